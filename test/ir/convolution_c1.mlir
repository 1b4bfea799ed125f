// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @count(%a: tensor<2x4x5x5xf32>, %b: tensor<2x2x2x2xf32>) -> tensor<2x2x3x4xf32> {
  // expected-error@+1 {{'prim.convolution' op 'strides' has 1 entries for 2 spatial dimensions}}
  %r = prim.convolution %a, %b {dilations = array<i64: 1, 2>, groups = 2 : i64, pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 0>, strides = array<i64: 2>} : (tensor<2x4x5x5xf32>, tensor<2x2x2x2xf32>) -> tensor<2x2x3x4xf32>
  return %r : tensor<2x2x3x4xf32>
}

// -----

func.func @stride(%a: tensor<2x4x5x5xf32>, %b: tensor<2x2x2x2xf32>) -> tensor<2x2x3x4xf32> {
  // expected-error@+1 {{'prim.convolution' op 'strides' has the entry 0, less than 1}}
  %r = prim.convolution %a, %b {dilations = array<i64: 1, 2>, groups = 2 : i64, pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 0>, strides = array<i64: 0, 1>} : (tensor<2x4x5x5xf32>, tensor<2x2x2x2xf32>) -> tensor<2x2x3x4xf32>
  return %r : tensor<2x2x3x4xf32>
}
