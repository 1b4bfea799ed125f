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
