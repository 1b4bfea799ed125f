// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --simplify | FileCheck %s --check-prefix=MOVES
// RUN: accc-opt %s --simplify=keep-factors | FileCheck %s --check-prefix=STAYS

// A factor of an operand becomes one of the result, unless the product is to be rounded to f16.
// MOVES: %[[Y:.*]] = prim.dot_general %arg0, %arg1
// MOVES: prim.mul %[[Y]]
// STAYS: %[[X:.*]] = prim.mul %arg0
// STAYS: prim.dot_general %[[X]], %arg1
func.func @scaled(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %c = prim.constant dense<0.125> : tensor<2x3xf32>
  %0 = prim.mul %x, %c : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = prim.dot_general %0, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
