// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.gemm %arg0, %arg1, %arg2 {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<2x3x4xf32>, tensor<4x2x5x6xf32>, tensor<5x6xf32>) -> tensor<2x3x5x6xf32>
func.func @case0(%a: tensor<2x3x4xf32>, %b: tensor<4x2x5x6xf32>, %bias: tensor<5x6xf32>) -> tensor<2x3x5x6xf32> {
  %r = prim.gemm %a, %b, %bias {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<2x3x4xf32>, tensor<4x2x5x6xf32>, tensor<5x6xf32>) -> tensor<2x3x5x6xf32>
  return %r : tensor<2x3x5x6xf32>
}

// CHECK-LABEL: @heads
// CHECK: prim.gemm %arg0, %arg0 {lhs_batch = array<i64: 1>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 2>, views = [memref<3x2x4xf32, strided<[16, 4, 1]>>, memref<3x2x4xf32, strided<[16, 4, 1], offset: 8>>]} : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<2x3x3xf32>
func.func @heads(%qk: tensor<3x16xf32>) -> tensor<2x3x3xf32> {
  %r = prim.gemm %qk, %qk {lhs_batch = array<i64: 1>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 2>, views = [memref<3x2x4xf32, strided<[16, 4, 1]>>, memref<3x2x4xf32, strided<[16, 4, 1], offset: 8>>]} : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<2x3x3xf32>
  return %r : tensor<2x3x3xf32>
}
