# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the build folder BUILD to a prefix below WORK, copies the project EXAMPLE out of the tree,
# builds it against the installation with the compiler CXX, and trains; where the folder STANDIN has a
# stand-in for a GPU, on that, too: the program finds the installed runtime for it.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
# A prefix that has been moved must work as well.
file(RENAME ${WORK}/prefix ${WORK}/moved)
file(COPY ${EXAMPLE} DESTINATION ${WORK})
run(${CMAKE_COMMAND} -G Ninja -S ${WORK}/digits -B ${WORK}/build -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${WORK}/moved)
run(${CMAKE_COMMAND} --build ${WORK}/build)
# The trainer fails under 97 % accuracy.
run(${WORK}/build/digits --output ${WORK}/digits.safetensors)
if(STANDIN)
  run(${WORK}/moved/bin/accc compile ${WORK}/digits/digits_mlp.onnx -o ${WORK}/gpu.so --loss cross_entropy
      --optimizer adamw -D batch=64 --target cuda --arch compute_80)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${STANDIN} ${WORK}/build/digits
      --model ${WORK}/gpu.so --epochs 1 --output ${WORK}/gpu.safetensors OUTPUT_VARIABLE output TIMEOUT 300)
  if(NOT output MATCHES "epoch  1  loss") # one is too few for 97 %
    message(FATAL_ERROR "the trainer does not train on a GPU: ${output}")
  endif()
endif()
file(SIZE ${WORK}/digits.safetensors size)
if(size LESS 1000)
  message(FATAL_ERROR "the weights are missing: ${size} bytes")
endif()
file(REMOVE_RECURSE ${WORK})
