// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @extent(%a: tensor<2x3x4xf32>, %b: tensor<5x2x5xf32>) -> tensor<2x3x5xf32> {
  // expected-error@+2 {{'prim.dot_general' op pairs lhs dimension 2 of extent 4 with rhs dimension 0 of extent 5}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.dot_general %a, %b {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<2x3x4xf32>, tensor<5x2x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}
