// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @f32(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3x5xf32> {
  // expected-error@+2 {{'prim.dot_general' op has a wide result of factors of type 'f32'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.dot_general %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>, wide_result} : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// -----

func.func @narrow(%a: tensor<3x4xbf16>, %b: tensor<4x5xbf16>) -> tensor<3x5xbf16> {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{'prim.dot_general' op inferred type(s) 'tensor<3x5xf32>' are incompatible with return type(s) of operation 'tensor<3x5xbf16>'}}
  %r = prim.dot_general %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>, wide_result} : (tensor<3x4xbf16>, tensor<4x5xbf16>) -> tensor<3x5xbf16>
  return %r : tensor<3x5xbf16>
}
