// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @result(%dy: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{has operands or results of other types than the operator's tensors}}
  %dx = prim.custom_call_backward "acme::mix" of "libacme.so" {} %dy
    {input_types = [tensor<4xf32>], output_types = [tensor<4xf32>],
     operandSegmentSizes = array<i32: 0, 0, 1>,
     reads_inputs = array<i64>, reads_outputs = array<i64>, wants = array<i64: 0>}
    : (tensor<4xf32>) -> tensor<3xf32>
  return %dx : tensor<3xf32>
}

// -----

func.func @gradient(%dy: tensor<4xf32>) -> tensor<4xf32> {
  // An integer output has no gradient.
  // expected-error@+1 {{has operands or results of other types than the operator's tensors}}
  %dx = prim.custom_call_backward "acme::mix" of "libacme.so" {} %dy
    {input_types = [tensor<4xf32>], output_types = [tensor<4xi64>],
     operandSegmentSizes = array<i32: 0, 0, 1>,
     reads_inputs = array<i64>, reads_outputs = array<i64>, wants = array<i64: 0>}
    : (tensor<4xf32>) -> tensor<4xf32>
  return %dx : tensor<4xf32>
}
