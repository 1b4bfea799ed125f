// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @extents(%a: tensor<3x4xf32>, %b: tensor<5x6xf32>, %bias: tensor<6xf32>) -> tensor<3x6xf32> {
  // expected-error@+2 {{'prim.gemm' op pairs lhs dimension 1 of extent 4 with rhs dimension 0 of extent 5}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.gemm %a, %b, %bias {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<3x4xf32>, tensor<5x6xf32>, tensor<6xf32>) -> tensor<3x6xf32>
  return %r : tensor<3x6xf32>
}
