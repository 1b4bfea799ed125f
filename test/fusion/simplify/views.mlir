// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --simplify | FileCheck %s

// CHECK-LABEL: @idle
// CHECK-NEXT: return %arg0
func.func @idle(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = prim.reshape %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = prim.transpose %0 {permutation = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = prim.broadcast %1 {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = prim.reverse %2 {dimensions = array<i64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// CHECK-LABEL: @reshape_of_reshape
// CHECK-NEXT: prim.reshape %arg0 : (tensor<2x6xf32>) -> tensor<4x3xf32>
func.func @reshape_of_reshape(%x: tensor<2x6xf32>) -> tensor<4x3xf32> {
  %0 = prim.reshape %x : (tensor<2x6xf32>) -> tensor<12xf32>
  %1 = prim.reshape %0 : (tensor<12xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: @transpose_of_transpose
// CHECK-NEXT: prim.transpose %arg0 {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
func.func @transpose_of_transpose(%x: tensor<2x3x4xf32>) -> tensor<3x2x4xf32> {
  %0 = prim.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = prim.transpose %0 {permutation = array<i64: 2, 1, 0>} : (tensor<4x2x3xf32>) -> tensor<3x2x4xf32>
  return %1 : tensor<3x2x4xf32>
}

// CHECK-LABEL: @transpose_of_units
// CHECK-NEXT: prim.reshape %arg0 : (tensor<2x1x4xf32>) -> tensor<1x2x4xf32>
func.func @transpose_of_units(%x: tensor<2x1x4xf32>) -> tensor<1x2x4xf32> {
  %0 = prim.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x1x4xf32>) -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}

// CHECK-LABEL: @broadcast_of_broadcast
// CHECK-NEXT: prim.broadcast %arg0 {dimensions = array<i64: 2>} : (tensor<3xf32>) -> tensor<4x2x3xf32>
func.func @broadcast_of_broadcast(%x: tensor<3xf32>) -> tensor<4x2x3xf32> {
  %0 = prim.broadcast %x {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = prim.broadcast %0 {dimensions = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  return %1 : tensor<4x2x3xf32>
}

// CHECK-LABEL: @broadcast_of_inserted_units
// CHECK-NEXT: prim.broadcast %arg0 {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3x4xf32>
func.func @broadcast_of_inserted_units(%x: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %0 = prim.reshape %x : (tensor<3xf32>) -> tensor<1x3x1xf32>
  %1 = prim.broadcast %0 {dimensions = array<i64: 0, 1, 2>} : (tensor<1x3x1xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// CHECK-LABEL: @transpose_of_broadcast
// CHECK-NEXT: prim.broadcast %arg0 {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<3x2xf32>
func.func @transpose_of_broadcast(%x: tensor<3xf32>) -> tensor<3x2xf32> {
  %0 = prim.broadcast %x {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = prim.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// CHECK-LABEL: @reverse_of_reverse
// CHECK-NEXT: prim.reverse %arg0 {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @reverse_of_reverse(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = prim.reverse %x {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = prim.reverse %0 {dimensions = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// Heads are brought before positions in two steps, and back again.
// CHECK-LABEL: @shorter_chain
// CHECK-NEXT: %[[S:.*]] = prim.reshape %arg0 : (tensor<5x8x6xf32>) -> tensor<5x8x2x3xf32>
// CHECK-NEXT: %[[T:.*]] = prim.transpose %[[S]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[R:.*]] = prim.reshape %arg1 : (tensor<8x2x5x3xf32>) -> tensor<16x15xf32>
// CHECK-NEXT: return %[[T]], %[[R]]
func.func @shorter_chain(%x: tensor<5x8x6xf32>, %y: tensor<8x2x5x3xf32>) -> (tensor<8x2x5x3xf32>, tensor<16x15xf32>) {
  %0 = prim.reshape %x : (tensor<5x8x6xf32>) -> tensor<5x16x3xf32>
  %1 = prim.transpose %0 {permutation = array<i64: 1, 0, 2>} : (tensor<5x16x3xf32>) -> tensor<16x5x3xf32>
  %2 = prim.reshape %1 : (tensor<16x5x3xf32>) -> tensor<8x2x5x3xf32>
  %3 = prim.reshape %y : (tensor<8x2x5x3xf32>) -> tensor<16x5x3xf32>
  %4 = prim.transpose %3 {permutation = array<i64: 1, 0, 2>} : (tensor<16x5x3xf32>) -> tensor<5x16x3xf32>
  %5 = prim.reshape %4 : (tensor<5x16x3xf32>) -> tensor<5x8x2x3xf32>
  %6 = prim.transpose %5 {permutation = array<i64: 1, 2, 0, 3>} : (tensor<5x8x2x3xf32>) -> tensor<8x2x5x3xf32>
  %7 = prim.reshape %6 : (tensor<8x2x5x3xf32>) -> tensor<16x15xf32>
  return %2, %7 : tensor<8x2x5x3xf32>, tensor<16x15xf32>
}

// 4 is no factor of 6.
// CHECK-LABEL: @no_factors
// CHECK-NEXT: prim.transpose
// CHECK-NEXT: prim.reshape
// CHECK-NEXT: prim.transpose
// CHECK-NEXT: return
func.func @no_factors(%x: tensor<4x6xf32>) -> tensor<3x8xf32> {
  %0 = prim.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = prim.reshape %0 : (tensor<6x4xf32>) -> tensor<8x3xf32>
  %2 = prim.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<8x3xf32>) -> tensor<3x8xf32>
  return %2 : tensor<3x8xf32>
}

// A contraction reads the last of two transposes where it lies, which the two as one would not leave to it.
// CHECK-LABEL: @before_contraction
// CHECK-NEXT: %[[T:.*]] = prim.transpose %arg1 {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT: %[[R:.*]] = prim.reshape %[[T]] : (tensor<16x5x3xf32>) -> tensor<8x2x5x3xf32>
// CHECK-NEXT: prim.dot_general %arg0, %[[R]] {{.*}}rhs_contracting = array<i64: 3>
func.func @before_contraction(%q: tensor<8x2x4x3xf32>, %x: tensor<5x16x3xf32>) -> tensor<8x2x4x5xf32> {
  %0 = prim.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<5x16x3xf32>) -> tensor<16x5x3xf32>
  %1 = prim.reshape %0 : (tensor<16x5x3xf32>) -> tensor<8x2x5x3xf32>
  %2 = prim.transpose %1 {permutation = array<i64: 0, 1, 3, 2>} : (tensor<8x2x5x3xf32>) -> tensor<8x2x3x5xf32>
  %3 = prim.dot_general %q, %2 {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 2>} : (tensor<8x2x4x3xf32>, tensor<8x2x3x5xf32>) -> tensor<8x2x4x5xf32>
  return %3 : tensor<8x2x4x5xf32>
}

// What something else reads as well would be transposed twice.
// CHECK-LABEL: @shared_chain
// CHECK-NEXT: %[[T:.*]] = prim.transpose %arg0 {permutation = array<i64: 1, 0>}
// CHECK-NEXT: %[[N:.*]] = prim.neg %[[T]]
// CHECK-NEXT: %[[R:.*]] = prim.reshape %[[T]]
// CHECK-NEXT: %[[U:.*]] = prim.transpose %[[R]] {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT: return %[[N]], %[[U]]
func.func @shared_chain(%x: tensor<4x6xf32>) -> (tensor<6x4xf32>, tensor<3x2x4xf32>) {
  %0 = prim.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = prim.neg %0 : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %2 = prim.reshape %0 : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %3 = prim.transpose %2 {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  return %1, %3 : tensor<6x4xf32>, tensor<3x2x4xf32>
}
