# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the build folder BUILD below WORK, and builds and runs the trainer of EXAMPLE with what
# pkg-config says of the installation, which has been moved; no CMake is in the way.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output COMMAND_ECHO STDOUT TIMEOUT 300
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
file(RENAME ${WORK}/prefix ${WORK}/moved)
foreach(file LICENSE README.md docs/operators.md)
  if(NOT EXISTS ${WORK}/moved/share/doc/accc/${file})
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()

set(ENV{PKG_CONFIG_PATH} ${WORK}/moved/${LIBDIR}/pkgconfig)
run(${PKG_CONFIG} --print-errors --cflags --libs accc)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${WORK}/moved/bin/accc compile ${EXAMPLE}/digits_cnn.onnx -o ${WORK}/digits_cnn.so --loss cross_entropy
    --optimizer adamw,weight_decay=0.01 -D batch=64)
run(${CXX} -std=c++20 -O1 -DACCC_MODEL_digits_cnn="${WORK}/digits_cnn.so"
    -DDIGITS_DATA="${EXAMPLE}/data/digits.safetensors" ${EXAMPLE}/main.cpp -o ${WORK}/digits ${flags})
# The trainer fails under 97 % accuracy.
run(${WORK}/digits --output ${WORK}/digits.safetensors)
if(NOT EXISTS ${WORK}/digits.safetensors)
  message(FATAL_ERROR "the trainer wrote no weights")
endif()
file(REMOVE_RECURSE ${WORK})
