// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @length(%a: tensor<2x3x4xf32>, %b: tensor<4x2x5xf32>) -> tensor<2x3x5xf32> {
  // expected-error@+2 {{'prim.dot_general' op has 0 batch dimensions on the left and 1 on the right}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.dot_general %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// -----

func.func @twice(%a: tensor<2x3x4xf32>, %b: tensor<4x2x5xf32>) -> tensor<3x4x5xf32> {
  // expected-error@+2 {{'prim.dot_general' op 'lhs_batch and lhs_contracting' names dimension 0 twice}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.dot_general %a, %b {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 0>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<3x4x5xf32>
  return %r : tensor<3x4x5xf32>
}

// -----

func.func @range(%a: tensor<2x3x4xf32>, %b: tensor<4x2x5xf32>) -> tensor<2x3x5xf32> {
  // expected-error@+2 {{'prim.dot_general' op 'rhs_batch and rhs_contracting' is 3, out of range for rank 3}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.dot_general %a, %b {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 3>} : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}
