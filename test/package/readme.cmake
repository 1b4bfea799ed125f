# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs the README's trainer on the files it names, made of the goldens of the same model.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
file(COPY_FILE ${GOLDENS}/inputs.safetensors ${WORK}/batch.safetensors)
foreach(command
    "${ACCC};compile;${GOLDENS}/model.onnx;-o;digits_cnn.so;--loss;cross_entropy;--optimizer;adamw;-D;batch=64"
    "${TRAINER}")
  execute_process(COMMAND ${command} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE status TIMEOUT 300)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${command}")
  endif()
endforeach()
if(NOT EXISTS ${WORK}/digits.safetensors)
  message(FATAL_ERROR "the trainer wrote no weights")
endif()
