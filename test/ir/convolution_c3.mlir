// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @result(%a: tensor<2x4x5x5xf32>, %b: tensor<2x2x2x2xf32>) -> tensor<2x2x3x3xf32> {
  // expected-error@+1 {{'prim.convolution' op y is 'tensor<2x2x3x3xf32>', but x, w and the geometry ask for 'tensor<2x2x3x4xf32>'}}
  %r = prim.convolution %a, %b {dilations = array<i64: 1, 2>, groups = 2 : i64, pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<2x4x5x5xf32>, tensor<2x2x2x2xf32>) -> tensor<2x2x3x3xf32>
  return %r : tensor<2x2x3x3xf32>
}
