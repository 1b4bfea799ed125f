// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @too_many(%x: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has lists that do not number its operands and results}}
  %dx = prim.custom_call_backward "acme::mix" of "libacme.so" {} %x, %dy
    {input_types = [tensor<4xf32>], output_types = [tensor<4xf32>],
     operandSegmentSizes = array<i32: 1, 0, 1>,
     reads_inputs = array<i64>, reads_outputs = array<i64>, wants = array<i64: 0>}
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %dx : tensor<4xf32>
}

// -----

func.func @out_of_range(%dy: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{has lists that do not number its operands and results}}
  %dx = prim.custom_call_backward "acme::mix" of "libacme.so" {} %dy
    {input_types = [tensor<4xf32>], output_types = [tensor<4xf32>],
     operandSegmentSizes = array<i32: 0, 0, 1>,
     reads_inputs = array<i64>, reads_outputs = array<i64>, wants = array<i64: 1>}
    : (tensor<4xf32>) -> tensor<4xf32>
  return %dx : tensor<4xf32>
}
