# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the build folder BUILD to a prefix below WORK, copies the project data-parallel out of the tree EXAMPLES,
# with the digits that it trains on, builds it against the installation with the compiler CXX, and trains with
# several processes (data_parallel.py, run by PYTHON).
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
file(COPY ${EXAMPLES}/digits ${EXAMPLES}/data-parallel DESTINATION ${WORK})
run(${CMAKE_COMMAND} -G Ninja -S ${WORK}/data-parallel -B ${WORK}/build -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/data_parallel.py ${WORK}/prefix/bin/accc ${WORK}/build/data_parallel
    ${MPIRUN} ${GOLDENS} ${WORK})
file(REMOVE_RECURSE ${WORK})
