// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @order(%a: tensor<2x3xf32>) -> tensor<f32> {
  // expected-error@+2 {{'prim.reduce' op 'dimensions' must increase}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.reduce sum %a {dimensions = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func @range(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error@+2 {{'prim.reduce' op 'dimensions' is 2, out of range for rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.reduce sum %a {dimensions = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
