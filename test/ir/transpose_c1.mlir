// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @twice(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+2 {{'prim.transpose' op 'permutation' names dimension 0 twice}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.transpose %a {permutation = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

func.func @count(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error@+2 {{'prim.transpose' op 'permutation' has 1 entries for an operand of rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.transpose %a {permutation = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
