// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @element(%a: tensor<2x3x4xf32>, %b: tensor<4x2x5xf64>) -> tensor<2x3x5xf32> {
  // expected-error@+2 {{'prim.dot_general' op lhs has element type 'f32' but rhs 'f64'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.dot_general %a, %b {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<2x3x4xf32>, tensor<4x2x5xf64>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}
