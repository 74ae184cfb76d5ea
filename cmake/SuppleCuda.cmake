# SUPPLE_CUDA = AUTO | ON | OFF. Enables the language, sets SUPPLE_CUDA_ENABLED and defines supple_cuda_kernels().
# No driver is needed, neither to build nor to run on the CPU.
set(SUPPLE_CUDA_ENABLED OFF)

# Adds kernels/cuda/*.cu to the target and defines SUPPLE_HAVE_CUDA for it and its users; nothing without CUDA.
function(supple_cuda_kernels target)
  if(NOT SUPPLE_CUDA_ENABLED)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cuda/*.cu)
  target_sources(${target} PRIVATE ${sources})
  target_compile_definitions(${target} PUBLIC SUPPLE_HAVE_CUDA=1)
  target_link_libraries(${target} PRIVATE CUDA::cudart_static)
  # The host half of a .cu is compiled like every other file: same instruction set, same OpenMP.
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Werror all-warnings>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-march=${SUPPLE_ARCH},-Wall,-Wextra,-fno-math-errno,-ffp-contract=fast,-fopenmp>")
endfunction()

if(SUPPLE_CUDSS AND (SUPPLE_CUDA STREQUAL "OFF" OR SUPPLE_SANITIZE OR SUPPLE_FUZZERS))
  message(FATAL_ERROR "SUPPLE_CUDSS is ON in a build without CUDA: SUPPLE_CUDA=ON, without sanitizers or fuzzers")
endif()
if(SUPPLE_CUDA STREQUAL "OFF")
  return()
elseif(NOT SUPPLE_CUDA MATCHES "^(AUTO|ON)$")
  message(FATAL_ERROR "SUPPLE_CUDA is '${SUPPLE_CUDA}' (AUTO, ON or OFF)")
elseif(SUPPLE_SANITIZE OR SUPPLE_FUZZERS)
  message(STATUS "Supple: sanitizers and fuzzers cover host code: built without CUDA")
  return()
endif()

# The toolkit's own folder is often not on PATH.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(SUPPLE_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
  mark_as_advanced(SUPPLE_NVCC)
  if(SUPPLE_NVCC)
    set(ENV{CUDACXX} ${SUPPLE_NVCC})
  endif()
endif()
# Ampere, Ada and Hopper as machine code; anything newer from the PTX of the last. Name one ("90") for a quick build.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 86-real 89-real 90)
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(SUPPLE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SUPPLE_CUDA is ON and there is no working nvcc: install the CUDA toolkit, set CUDACXX, or choose AUTO or OFF")
  endif()
  if(SUPPLE_CUDSS)
    message(FATAL_ERROR "SUPPLE_CUDSS is ON and there is no working nvcc: install the CUDA toolkit, or set CUDACXX")
  endif()
  message(STATUS "Supple: no working nvcc: built without CUDA, everything runs on the CPU")
  return()
endif()
enable_language(CUDA)
find_package(CUDAToolkit 12 REQUIRED)

# CMake 3.25 knows no C++20 flag for nvcc.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)

# A package, an archive or a Python wheel: cudss_ROOT is the folder with include/ and lib/.
if(SUPPLE_CUDSS)
  find_path(CUDSS_INCLUDE cudss.h HINTS ${cudss_ROOT} PATH_SUFFIXES include)
  find_library(CUDSS_LIBRARY NAMES cudss libcudss.so.1 HINTS ${cudss_ROOT} PATH_SUFFIXES lib lib64)
  if(NOT CUDSS_INCLUDE OR NOT CUDSS_LIBRARY)
    message(FATAL_ERROR "SUPPLE_CUDSS is ON and there is no cuDSS (cudss.h, libcudss): -Dcudss_ROOT=FOLDER")
  endif()
  file(STRINGS ${CUDSS_INCLUDE}/cudss.h SUPPLE_CUDSS_MAJOR REGEX "^#define CUDSS_VERSION_MAJOR +1$")
  if(NOT SUPPLE_CUDSS_MAJOR)
    message(FATAL_ERROR "the cuDSS in ${CUDSS_INCLUDE} is no 1.x, whose interface others have not")
  endif()
  message(STATUS "Supple: cuDSS ${CUDSS_LIBRARY}")
endif()

set(SUPPLE_CUDA_ENABLED ON)
message(STATUS "Supple: CUDA ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
