# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "exit code ${status}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/prefix)
file(COPY ${EXAMPLE} DESTINATION ${FOLDER})
run(${CMAKE_COMMAND} -S ${FOLDER}/digits -B ${FOLDER}/build -D CMAKE_BUILD_TYPE=Release
    -D CMAKE_PREFIX_PATH=${FOLDER}/prefix -D CMAKE_CXX_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build ${FOLDER}/build)
# The program itself fails where the accuracy stays under 97 %.
run(${FOLDER}/build/digits --output ${FOLDER}/digits.safetensors)
