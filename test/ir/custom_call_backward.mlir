// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// Reads the second input and the output; gives the gradient of the first input.
// CHECK-LABEL: @backward
// CHECK: prim.custom_call_backward "acme::mix" of "libacme.so" {} %arg0, %arg1, %arg2 {input_types = [tensor<4xf32>, tensor<i64>], operandSegmentSizes = array<i32: 1, 1, 1>, output_types = [tensor<4xf32>], reads_inputs = array<i64: 1>, reads_outputs = array<i64: 0>, wants = array<i64: 0>} : (tensor<i64>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func @backward(%n: tensor<i64>, %y: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  %dx = prim.custom_call_backward "acme::mix" of "libacme.so" {} %n, %y, %dy
    {input_types = [tensor<4xf32>, tensor<i64>], output_types = [tensor<4xf32>],
     operandSegmentSizes = array<i32: 1, 1, 1>,
     reads_inputs = array<i64: 1>, reads_outputs = array<i64: 0>, wants = array<i64: 0>}
    : (tensor<i64>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %dx : tensor<4xf32>
}

// Reads nothing but the gradient of the output.
// CHECK-LABEL: @gradient
// CHECK: prim.custom_call_backward "acme::mix" of "libacme.so" {} %arg0
func.func @gradient(%dy: tensor<4xf32>) -> tensor<4xf32> {
  %dx = prim.custom_call_backward "acme::mix" of "libacme.so" {} %dy
    {input_types = [tensor<4xf32>], output_types = [tensor<4xf32>],
     operandSegmentSizes = array<i32: 0, 0, 1>,
     reads_inputs = array<i64>, reads_outputs = array<i64>, wants = array<i64: 0>}
    : (tensor<4xf32>) -> tensor<4xf32>
  return %dx : tensor<4xf32>
}
