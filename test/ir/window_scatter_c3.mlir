// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @type(%a: tensor<2x4xi64>, %b: tensor<2x4xf32>) -> tensor<2x5xf32> {
  // expected-error@+2 {{'prim.window_scatter' op 'numbers' is 'tensor<2x4xi64>', but the windows ask for 'tensor<2x4xi8>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.window_scatter %a, %b {dilations = array<i64: 1, 2>, extents = array<i64: 2, 5>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 1>, strides = array<i64: 1, 1>, window = array<i64: 1, 2>} : (tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}
