# Build type, language level, instruction set, warnings: the same for every target of the project.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# One instruction set per build: shared inline code must not be compiled twice with different ones.
add_library(supple_options INTERFACE)
target_compile_options(supple_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-march=${SUPPLE_ARCH}>)
target_compile_options(supple_options INTERFACE
  $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wno-unknown-pragmas;-Wno-psabi;-fno-math-errno;-ffp-contract=fast>>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 finds uninitialised values inside its own AVX-512 header wherever Eigen uses it.
  target_compile_options(supple_options INTERFACE $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized;-Wno-uninitialized>>)
  # It copies nine vectors by `rep movs`, which takes longer to begin than a copy takes: a third of the time of a stress.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(supple_options INTERFACE
      $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-mmemcpy-strategy=vector_loop:2048:noalign,libcall:-1:noalign>>)
  endif()
endif()
if(SUPPLE_WERROR)
  target_compile_options(supple_options INTERFACE $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Werror>>)
endif()
if(SUPPLE_CONTRACTS OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_definitions(supple_options INTERFACE SUPPLE_CONTRACTS=1)
endif()
if(SUPPLE_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined> -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
# Leaves out four checks of the sanitizers that take more than a quarter of the time to compile: for targets whose unaligned
# reads and raw pointers are in libraries that keep them. A null pointer stops a program under the address sanitizer anyway.
function(supple_fewer_checks target)
  if(SUPPLE_SANITIZE)
    target_compile_options(${target} PRIVATE -fno-sanitize=null,alignment,vptr,object-size)
  endif()
endfunction()
install(TARGETS supple_options EXPORT supple)
