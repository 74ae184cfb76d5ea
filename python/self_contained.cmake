# A module that carries its libraries, for a wheel: what Debian has as static library is linked in and hidden, so that another HDF5
# or BLAS in the same process does not meet it. METIS and the compiler's run-time libraries stay shared; `auditwheel repair` copies
# them into the wheel. Why, and what was measured: docs/decisions/0034-python.md.
set(static_libraries)
foreach(name hdf5_serial udunits2 expat xxhash pugixml dmumps_seq mumps_common_seq pord_seq mpiseq_seq sz aec z)
  find_library(SUPPLE_STATIC_${name} NAMES lib${name}.a REQUIRED)
  list(APPEND static_libraries ${SUPPLE_STATIC_${name}})
endforeach()
foreach(name lapack blas)  # the reference's, not what update-alternatives gives
  find_library(SUPPLE_STATIC_${name} NAMES lib${name}.a PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} PATH_SUFFIXES ${name}
    NO_DEFAULT_PATH REQUIRED)
endforeach()
mark_as_advanced(SUPPLE_STATIC_lapack SUPPLE_STATIC_blas)

target_sources(supple_python PRIVATE wheel/blas.cpp ${PROJECT_SOURCE_DIR}/engine/runtime/fmt.cpp wheel/system.c)
set(ours)
foreach(part cli engine scene mesh solvers kernels base)
  list(APPEND ours $<TARGET_FILE:supple_${part}>)
  add_dependencies(supple_python supple_${part})
endforeach()
# Files, not targets: the targets bring their shared libraries along.
target_include_directories(supple_python PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(supple_python PRIVATE EIGEN_MPL2_ONLY EIGEN_DONT_PARALLELIZE)
target_link_libraries(supple_python PRIVATE supple_options Eigen3::Eigen nlohmann_json::nlohmann_json
  -Wl,--start-group ${ours} -Wl,--end-group ${static_libraries} ${METIS_LIBRARY} ${SUPPLE_STATIC_lapack} ${SUPPLE_STATIC_blas}
  gfortran quadmath gomp m)
set(exports ${CMAKE_CURRENT_SOURCE_DIR}/wheel/exports.map)
target_link_options(supple_python PRIVATE -Wl,--gc-sections -Wl,--as-needed -Wl,-Bsymbolic -Wl,--exclude-libs,ALL
  -Wl,--version-script=${exports} -Wl,-O1 -Wl,-z,relro -Wl,-z,now -Wl,--wrap=stderr -Wl,--wrap=stdout -Wl,--wrap=stdin
  -Wl,-Map=${CMAKE_CURRENT_BINARY_DIR}/_core.map)
set_property(TARGET supple_python APPEND PROPERTY LINK_DEPENDS ${exports})

if(SKBUILD)
  find_file(UDUNITS2_DATABASE udunits2.xml PATHS /usr/share/xml/udunits /usr/share/udunits REQUIRED)
  get_filename_component(database ${UDUNITS2_DATABASE} DIRECTORY)
  install(DIRECTORY ${database}/ DESTINATION supple/udunits COMPONENT python FILES_MATCHING PATTERN "*.xml")
  # The licence of what is linked in or copied goes with it.
  foreach(package libhdf5-dev libudunits2-dev libexpat1-dev libxxhash-dev libpugixml-dev libmumps-seq-dev libaec-dev zlib1g-dev
      liblapack-dev libblas-dev libeigen3-dev libfmt-dev libmetis5 libgfortran5 libquadmath0 libgomp1 libcli11-dev
      libtomlplusplus-dev nlohmann-json3-dev)
    if(NOT EXISTS /usr/share/doc/${package}/copyright)
      message(FATAL_ERROR "no copyright file of ${package}, which the module carries")
    endif()
    install(FILES /usr/share/doc/${package}/copyright DESTINATION supple/licences COMPONENT python RENAME ${package}.txt)
  endforeach()
  # Of nanobind, and of the map that it carries, whose licence stands at its beginning.
  file(GLOB licence ${NB_DIR}/../nanobind-*.dist-info/licenses/LICENSE)
  if(NOT licence OR NOT EXISTS ${NB_DIR}/ext/robin_map/include/tsl/robin_map.h)
    message(FATAL_ERROR "the licences of nanobind and robin_map are not where they were")
  endif()
  install(FILES ${licence} DESTINATION supple/licences COMPONENT python RENAME nanobind.txt)
  install(FILES ${NB_DIR}/ext/robin_map/include/tsl/robin_map.h DESTINATION supple/licences COMPONENT python RENAME robin_map.txt)
endif()
