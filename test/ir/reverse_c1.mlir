// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @twice(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+2 {{'prim.reverse' op 'dimensions' names dimension 0 twice}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.reverse %a {dimensions = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

func.func @range(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+2 {{'prim.reverse' op 'dimensions' is 2, out of range for rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.reverse %a {dimensions = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
