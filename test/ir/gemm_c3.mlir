// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @one(%a: tensor<3x4xf32>, %b: tensor<4x6xf32>) -> tensor<3x6xf32> {
  // expected-error@+2 {{'prim.gemm' op has 1 views, not 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.gemm %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>, views = [memref<3x4xf32>]} : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
  return %r : tensor<3x6xf32>
}

// -----

func.func @outside(%a: tensor<3x4xf32>, %b: tensor<4x6xf32>) -> tensor<3x2xf32> {
  // expected-error@+2 {{'prim.gemm' op has a view memref<4x2xf32, strided<[6, 1], offset: 5>> of 'tensor<4x6xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.gemm %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>, views = [memref<3x4xf32>, memref<4x2xf32, strided<[6, 1], offset: 5>>]} : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

func.func @element(%a: tensor<3x4xf32>, %b: tensor<4x6xf32>) -> tensor<3x6xf32> {
  // expected-error@+2 {{'prim.gemm' op has a view memref<3x4xbf16> of 'tensor<3x4xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.gemm %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>, views = [memref<3x4xbf16>, memref<4x6xf32>]} : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
  return %r : tensor<3x6xf32>
}
