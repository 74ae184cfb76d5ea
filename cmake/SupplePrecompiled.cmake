# Headers that most files include, parsed once per set of flags. Only a matter of time: a file still includes what it uses,
# which a build with SUPPLE_PRECOMPILED_HEADERS off checks.
if(NOT SUPPLE_PRECOMPILED_HEADERS)
  return()
endif()
set(headers <algorithm> <array> <cmath> <cstdint> <fstream> <functional> <limits> <map> <memory> <numbers> <numeric>
  <optional> <span> <sstream> <string> <string_view> <utility> <vector>)
target_precompile_headers(supple_base PRIVATE ${headers})
target_precompile_headers(supple_mesh PRIVATE ${headers} <fmt/format.h>)
foreach(library supple_kernels supple_solvers)
  target_precompile_headers(${library} REUSE_FROM supple_base)
endforeach()
# What half of the engine includes of itself and of scenes.
set(headers_of_engine <chrono> <fmt/format.h> ${PROJECT_SOURCE_DIR}/engine/model/reduced_model.hpp
  ${PROJECT_SOURCE_DIR}/engine/step/step.hpp)
if(TARGET supple_engine)
  target_precompile_headers(supple_engine PRIVATE ${headers} ${headers_of_engine})
endif()
if(TARGET supple_cli)
  target_precompile_headers(supple_cli PRIVATE ${headers} ${headers_of_engine} <filesystem> <nlohmann/json.hpp>
    ${PROJECT_SOURCE_DIR}/engine/step/equilibrium.hpp)
endif()
foreach(library supple_scene supple_draw supple_gl supple_app)
  if(TARGET ${library})
    target_precompile_headers(${library} REUSE_FROM supple_mesh)
  endif()
endforeach()
# g++ forgets the pragmas of a precompiled header with which its library keeps these quiet where they are wrong. Builds
# without precompiled headers have them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  foreach(library supple_base supple_kernels supple_solvers supple_mesh supple_scene supple_engine supple_cli supple_draw supple_gl
      supple_app)
    if(TARGET ${library})
      target_compile_options(${library} PRIVATE
        $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)
    endif()
  endforeach()
endif()
