// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --lay-out-contractions | FileCheck %s

// CHECK-LABEL: @readable
// CHECK-NEXT: prim.dot_general %arg0, %arg1
// CHECK-NEXT: return
func.func @readable(%x: tensor<2x5x3x4xf32>, %y: tensor<2x5x3x4xf32>) -> tensor<2x3x5x5xf32> {
  %0 = prim.dot_general %x, %y {lhs_batch = array<i64: 0, 2>, lhs_contracting = array<i64: 3>, rhs_batch = array<i64: 0, 2>, rhs_contracting = array<i64: 3>} : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> tensor<2x3x5x5xf32>
  return %0 : tensor<2x3x5x5xf32>
}

// The free dimensions 0 and 2 are apart.
// CHECK-LABEL: @free_apart
// CHECK-NEXT: %[[T:.*]] = prim.transpose %arg0 {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
// CHECK-NEXT: prim.dot_general %[[T]], %arg1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x4x3xf32>, tensor<3x5xf32>) -> tensor<2x4x5xf32>
func.func @free_apart(%x: tensor<2x3x4xf32>, %y: tensor<3x5xf32>) -> tensor<2x4x5xf32> {
  %0 = prim.dot_general %x, %y {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3x4xf32>, tensor<3x5xf32>) -> tensor<2x4x5xf32>
  return %0 : tensor<2x4x5xf32>
}

// No dimension but the batch is contiguous.
// CHECK-LABEL: @batch_inside
// CHECK-NEXT: %[[T:.*]] = prim.transpose %arg0 {permutation = array<i64: 2, 0, 1>}
// CHECK-NEXT: prim.dot_general %[[T]], %arg1 {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
func.func @batch_inside(%x: tensor<2x3x4xf32>, %y: tensor<4x3x5xf32>) -> tensor<4x2x5xf32> {
  %0 = prim.dot_general %x, %y {lhs_batch = array<i64: 2>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>} : (tensor<2x3x4xf32>, tensor<4x3x5xf32>) -> tensor<4x2x5xf32>
  return %0 : tensor<4x2x5xf32>
}

// The pairs in another order, and nothing need be copied.
// CHECK-LABEL: @pairs
// CHECK-NEXT: prim.dot_general %arg0, %arg1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1, 2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0, 1>}
// CHECK-NEXT: return
func.func @pairs(%x: tensor<2x3x4xf32>, %y: tensor<3x4x5xf32>) -> tensor<2x5xf32> {
  %0 = prim.dot_general %x, %y {lhs_batch = array<i64>, lhs_contracting = array<i64: 2, 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1, 0>} : (tensor<2x3x4xf32>, tensor<3x4x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// CHECK-LABEL: @many_batches
// CHECK-NEXT: %[[X:.*]] = prim.reshape %arg0 : (tensor<2x3x2x3x2x4x5xf32>) -> tensor<72x4x5xf32>
// CHECK-NEXT: %[[Y:.*]] = prim.reshape %arg1 : (tensor<2x3x2x3x2x5x6xf32>) -> tensor<72x5x6xf32>
// CHECK-NEXT: %[[Z:.*]] = prim.dot_general %[[X]], %[[Y]] {lhs_batch = array<i64: 0>
// CHECK-NEXT: prim.reshape %[[Z]] : (tensor<72x4x6xf32>) -> tensor<2x3x2x3x2x4x6xf32>
func.func @many_batches(%x: tensor<2x3x2x3x2x4x5xf32>, %y: tensor<2x3x2x3x2x5x6xf32>) -> tensor<2x3x2x3x2x4x6xf32> {
  %0 = prim.dot_general %x, %y {lhs_batch = array<i64: 0, 1, 2, 3, 4>, lhs_contracting = array<i64: 6>, rhs_batch = array<i64: 0, 1, 2, 3, 4>, rhs_contracting = array<i64: 5>} : (tensor<2x3x2x3x2x4x5xf32>, tensor<2x3x2x3x2x5x6xf32>) -> tensor<2x3x2x3x2x4x6xf32>
  return %0 : tensor<2x3x2x3x2x4x6xf32>
}
