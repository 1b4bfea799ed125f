// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.dot_general_bias %arg0, %arg1, %arg2 {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<2x3x4xf32>, tensor<4x2x5x6xf32>, tensor<5x6xf32>) -> tensor<2x3x5x6xf32>
func.func @case0(%a: tensor<2x3x4xf32>, %b: tensor<4x2x5x6xf32>, %bias: tensor<5x6xf32>) -> tensor<2x3x5x6xf32> {
  %r = prim.dot_general_bias %a, %b, %bias {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<2x3x4xf32>, tensor<4x2x5x6xf32>, tensor<5x6xf32>) -> tensor<2x3x5x6xf32>
  return %r : tensor<2x3x5x6xf32>
}
