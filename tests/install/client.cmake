# Installs a build into a scratch folder, builds docs/examples/client against it as a stranger would, and runs it.
#   cmake -DBUILD=<build folder> -DCLIENT=<client's folder> -DSCRATCH=<folder, emptied> -DCOMPILER=<C++> -P client.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${code}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
run(${CMAKE_COMMAND} -S ${CLIENT} -B ${SCRATCH}/build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/beam)
# 21 x 5 x 5 nodes, 25 of them held. Unheld, a point falls by g h^2 = 0.98 mm in one implicit step of h = 10 ms from z = 10 mm.
if(NOT output MATCHES "^ok: 1500 unknowns, tip at z = 0\\.0088[0-9]+ m after 0\\.01 s\n$")
  message(FATAL_ERROR "unexpected output of the client: ${output}")
endif()
run(${SCRATCH}/prefix/bin/supple --version)
file(REMOVE_RECURSE ${SCRATCH})
