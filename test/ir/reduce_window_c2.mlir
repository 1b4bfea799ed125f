// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @kind(%a: tensor<2x5xf32>) -> tensor<2x4xf32> {
  // expected-error@+2 {{'prim.reduce_window' op 'kind' must be sum, max or min, but is prod}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.reduce_window prod %a {dilations = array<i64: 1, 2>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 1>, strides = array<i64: 1, 1>, window = array<i64: 1, 2>} : (tensor<2x5xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
