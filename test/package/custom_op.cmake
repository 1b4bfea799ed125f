# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the build folder BUILD to a prefix below WORK, copies the project EXAMPLE out of the tree, builds
# it, a library of custom operators among it, against the installation with the compilers C and CXX, and
# trains.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
file(COPY ${EXAMPLE} DESTINATION ${WORK})
run(${CMAKE_COMMAND} -G Ninja -S ${WORK}/custom-op -B ${WORK}/build -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
# The trainer fails where the loss stays high.
run(${CMAKE_COMMAND} -E chdir ${WORK} ${WORK}/build/train_quantized)
# Without the library of operators it says what is missing.
file(REMOVE ${WORK}/build/libacme_ops.so)
execute_process(COMMAND ${WORK}/build/train_quantized RESULT_VARIABLE status ERROR_VARIABLE error TIMEOUT 60)
if(NOT status EQUAL 3 OR NOT error MATCHES "calls custom operators of libacme_ops.so, which was looked for")
  message(FATAL_ERROR "without the library of operators: ${status} ${error}")
endif()
file(REMOVE_RECURSE ${WORK})
