# What `cmake --install` and `cpack -G DEB` carry: the command, the libraries with their headers, assets and documents.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Programs that include the headers need the language too.
target_compile_features(supple_options INTERFACE cxx_std_20)

install(DIRECTORY kernels solvers engine DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/supple
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh" PATTERN cli EXCLUDE)
install(DIRECTORY assets DESTINATION ${CMAKE_INSTALL_DATADIR}/supple)
install(FILES README.md LICENSE NOTICE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# find_package(supple) gives supple::supple_engine, supple_scene, supple_mesh, supple_solvers, supple_kernels, supple_base.
set(supple_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/supple)
install(EXPORT supple NAMESPACE supple:: FILE suppleTargets.cmake DESTINATION ${supple_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/suppleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/suppleConfig.cmake @ONLY CONTENT [[
# Supple @PROJECT_VERSION@, compiled for -march=@SUPPLE_ARCH@: programs that use it are compiled for the same.
set(SUPPLE_ARCH "@SUPPLE_ARCH@")
set(SUPPLE_CUDA_ENABLED "@SUPPLE_CUDA_ENABLED@")
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(OpenMP COMPONENTS CXX)
find_dependency(Eigen3 3.4 NO_MODULE)
find_dependency(fmt)
find_dependency(nlohmann_json)
find_dependency(ZLIB)
find_dependency(pugixml)
find_dependency(PkgConfig)
if(NOT TARGET PkgConfig::xxhash)
  pkg_check_modules(xxhash REQUIRED QUIET IMPORTED_TARGET libxxhash)
endif()
if(NOT TARGET PkgConfig::tomlplusplus)
  pkg_check_modules(tomlplusplus REQUIRED QUIET IMPORTED_TARGET tomlplusplus)
endif()
if(SUPPLE_CUDA_ENABLED)
  find_dependency(CUDAToolkit)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/suppleTargets.cmake)
]])
install(FILES ${PROJECT_BINARY_DIR}/suppleConfig.cmake ${PROJECT_BINARY_DIR}/suppleConfigVersion.cmake
  DESTINATION ${supple_cmake_dir})

# cpack -G DEB: what the command needs at run time is read from the program itself; what programs that link the
# libraries need is only suggested. Configure with -DSUPPLE_ARCH=x86-64-v3: `native` runs on machines like this one only.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME supple)
set(CPACK_PACKAGE_CONTACT "Supple developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gnuplot-nox, g++, cmake, pkg-config, libeigen3-dev, libopenblas-dev, liblapacke-dev, \
libmumps-seq-dev, libmetis-dev, libfmt-dev, libtomlplusplus-dev, libudunits2-dev, nlohmann-json3-dev, libhdf5-dev, libpugixml-dev, \
zlib1g-dev, libxxhash-dev")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
include(CPack)
