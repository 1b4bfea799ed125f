// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @dilation(%a: tensor<2x4xi8>, %b: tensor<2x4xf32>) -> tensor<2x5xf32> {
  // expected-error@+2 {{'prim.window_scatter' op 'dilations' has the entry 0, less than 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.window_scatter %a, %b {dilations = array<i64: 1, 0>, extents = array<i64: 2, 5>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 1>, strides = array<i64: 1, 1>, window = array<i64: 1, 2>} : (tensor<2x4xi8>, tensor<2x4xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// -----

func.func @extent(%a: tensor<2x4xi8>, %b: tensor<2x4xf32>) -> tensor<2x5xf32> {
  // expected-error@+2 {{'prim.window_scatter' op 'extents' has the entry -5, less than 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.window_scatter %a, %b {dilations = array<i64: 1, 2>, extents = array<i64: 2, -5>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 1>, strides = array<i64: 1, 1>, window = array<i64: 1, 2>} : (tensor<2x4xi8>, tensor<2x4xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}
