// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rows(%a: tensor<3x4xf32>, %b: tensor<4x6xf32>, %bias: tensor<3xf32>) -> tensor<3x6xf32> {
  // expected-error@+2 {{'prim.gemm' op has a bias of type 'tensor<3xf32>' where the free dimensions of rhs ask for 'tensor<6xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.gemm %a, %b, %bias {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<3x4xf32>, tensor<4x6xf32>, tensor<3xf32>) -> tensor<3x6xf32>
  return %r : tensor<3x6xf32>
}

// -----

func.func @element(%a: tensor<3x4xf32>, %b: tensor<4x6xf32>, %bias: tensor<6xf64>) -> tensor<3x6xf32> {
  // expected-error@+2 {{'prim.gemm' op has a bias of type 'tensor<6xf64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.gemm %a, %b, %bias {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<3x4xf32>, tensor<4x6xf32>, tensor<6xf64>) -> tensor<3x6xf32>
  return %r : tensor<3x6xf32>
}
