// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --sink-views | FileCheck %s
// Layers of rows that are transposed before and after.

// CHECK-LABEL: @there_and_back
// CHECK-NEXT: %[[Y:.*]] = nn.linear %arg0, %arg1 bias %arg2 {transpose_w = true} : (tensor<8x5x4xf32>, tensor<6x4xf32>, tensor<6xf32>) -> tensor<8x5x6xf32>
// CHECK-NEXT: return %[[Y]]
func.func @there_and_back(%x: tensor<8x5x4xf32>, %w: tensor<6x4xf32>, %b: tensor<6xf32>) -> tensor<8x5x6xf32> {
  %t = prim.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<8x5x4xf32>) -> tensor<5x8x4xf32>
  %y = nn.linear %t, %w bias %b {transpose_w = true} : (tensor<5x8x4xf32>, tensor<6x4xf32>, tensor<6xf32>) -> tensor<5x8x6xf32>
  %z = prim.transpose %y {permutation = array<i64: 1, 0, 2>} : (tensor<5x8x6xf32>) -> tensor<8x5x6xf32>
  return %z : tensor<8x5x6xf32>
}

// As torch.nn.MultiheadAttention reads queries and keys, with the batch first: two heads of two features.
// CHECK-LABEL: @heads
// CHECK-NEXT: nn.linear %arg0, %arg1 {transpose_w = false} : (tensor<8x5x4xf32>, tensor<4x8xf32>) -> tensor<8x5x8xf32>
// CHECK-NEXT: prim.reshape
// CHECK-NEXT: %[[QS:.*]] = prim.slice
// CHECK-NEXT: %[[QR:.*]] = prim.reshape %[[QS]] : (tensor<8x5x1x4xf32>) -> tensor<8x5x2x2xf32>
// CHECK-NEXT: %[[Q:.*]] = prim.transpose %[[QR]] {permutation = array<i64: 0, 2, 1, 3>}
// CHECK-NEXT: %[[KS:.*]] = prim.slice
// CHECK-NEXT: %[[KR:.*]] = prim.reshape %[[KS]] : (tensor<8x5x1x4xf32>) -> tensor<8x5x2x2xf32>
// CHECK-NEXT: %[[K:.*]] = prim.transpose %[[KR]] {permutation = array<i64: 0, 2, 1, 3>}
// CHECK-NEXT: return %[[Q]], %[[K]]
func.func @heads(%x: tensor<8x5x4xf32>, %w: tensor<4x8xf32>) -> (tensor<8x2x5x2xf32>, tensor<8x2x5x2xf32>) {
  %t = prim.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<8x5x4xf32>) -> tensor<5x8x4xf32>
  %y = nn.linear %t, %w {transpose_w = false} : (tensor<5x8x4xf32>, tensor<4x8xf32>) -> tensor<5x8x8xf32>
  %parts = prim.reshape %y : (tensor<5x8x8xf32>) -> tensor<1x5x8x2x4xf32>
  %first = prim.transpose %parts {permutation = array<i64: 3, 1, 2, 0, 4>} : (tensor<1x5x8x2x4xf32>) -> tensor<2x5x8x1x4xf32>
  %qk = prim.reshape %first : (tensor<2x5x8x1x4xf32>) -> tensor<2x5x8x4xf32>
  %q0 = prim.slice %qk {starts = array<i64: 0, 0, 0, 0>, limits = array<i64: 1, 5, 8, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x5x8x4xf32>) -> tensor<1x5x8x4xf32>
  %q1 = prim.reshape %q0 : (tensor<1x5x8x4xf32>) -> tensor<5x16x2xf32>
  %q2 = prim.transpose %q1 {permutation = array<i64: 1, 0, 2>} : (tensor<5x16x2xf32>) -> tensor<16x5x2xf32>
  %q = prim.reshape %q2 : (tensor<16x5x2xf32>) -> tensor<8x2x5x2xf32>
  %k0 = prim.slice %qk {starts = array<i64: 1, 0, 0, 0>, limits = array<i64: 2, 5, 8, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x5x8x4xf32>) -> tensor<1x5x8x4xf32>
  %k1 = prim.reshape %k0 : (tensor<1x5x8x4xf32>) -> tensor<5x16x2xf32>
  %k2 = prim.transpose %k1 {permutation = array<i64: 1, 0, 2>} : (tensor<5x16x2xf32>) -> tensor<16x5x2xf32>
  %k = prim.reshape %k2 : (tensor<16x5x2xf32>) -> tensor<8x2x5x2xf32>
  return %q, %k : tensor<8x2x5x2xf32>, tensor<8x2x5x2xf32>
}

// ... and gives its result, whose rows are one dimension for the layer.
// CHECK-LABEL: @result
// CHECK-NEXT: %[[R:.*]] = prim.reshape %arg0 : (tensor<8x5x2x2xf32>) -> tensor<8x5x4xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.linear %[[R]], %arg1 {transpose_w = true} : (tensor<8x5x4xf32>, tensor<6x4xf32>) -> tensor<8x5x6xf32>
// CHECK-NEXT: return %[[Y]]
func.func @result(%x: tensor<8x5x2x2xf32>, %w: tensor<6x4xf32>) -> tensor<8x5x6xf32> {
  %t = prim.transpose %x {permutation = array<i64: 1, 0, 2, 3>} : (tensor<8x5x2x2xf32>) -> tensor<5x8x2x2xf32>
  %rows = prim.reshape %t : (tensor<5x8x2x2xf32>) -> tensor<40x4xf32>
  %y = nn.linear %rows, %w {transpose_w = true} : (tensor<40x4xf32>, tensor<6x4xf32>) -> tensor<40x6xf32>
  %r = prim.reshape %y : (tensor<40x6xf32>) -> tensor<5x8x6xf32>
  %z = prim.transpose %r {permutation = array<i64: 1, 0, 2>} : (tensor<5x8x6xf32>) -> tensor<8x5x6xf32>
  return %z : tensor<8x5x6xf32>
}

// A transpose of the result would be a larger one: somebody reads the rows as they are.
// CHECK-LABEL: @read_as_it_is
// CHECK-NEXT: %[[T:.*]] = prim.transpose %arg0
// CHECK-NEXT: nn.linear %[[T]]
func.func @read_as_it_is(%x: tensor<8x5x4xf32>, %w: tensor<6x4xf32>) -> (tensor<8x5x6xf32>, tensor<5x8x6xf32>) {
  %t = prim.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<8x5x4xf32>) -> tensor<5x8x4xf32>
  %y = nn.linear %t, %w {transpose_w = true} : (tensor<5x8x4xf32>, tensor<6x4xf32>) -> tensor<5x8x6xf32>
  %z = prim.transpose %y {permutation = array<i64: 1, 0, 2>} : (tensor<5x8x6xf32>) -> tensor<8x5x6xf32>
  %n = prim.neg %y : (tensor<5x8x6xf32>) -> tensor<5x8x6xf32>
  return %z, %n : tensor<8x5x6xf32>, tensor<5x8x6xf32>
}

// Windows of an image, whose rows come back in no order of the image's.
// CHECK-LABEL: @windows
// CHECK: prim.transpose %{{.*}} {permutation = array<i64: 0, 2, 1, 3>}
// CHECK: nn.linear
// CHECK: prim.transpose %{{.*}} {permutation = array<i64: 0, 2, 1, 3>}
func.func @windows(%x: tensor<8x6x4xf32>, %w: tensor<6x4xf32>) -> tensor<16x2x3x3xf32> {
  %s = prim.reshape %x : (tensor<8x6x4xf32>) -> tensor<8x3x2x4xf32>
  %t = prim.transpose %s {permutation = array<i64: 0, 2, 1, 3>} : (tensor<8x3x2x4xf32>) -> tensor<8x2x3x4xf32>
  %y = nn.linear %t, %w {transpose_w = true} : (tensor<8x2x3x4xf32>, tensor<6x4xf32>) -> tensor<8x2x3x6xf32>
  %h = prim.reshape %y : (tensor<8x2x3x6xf32>) -> tensor<16x3x2x3xf32>
  %z = prim.transpose %h {permutation = array<i64: 0, 2, 1, 3>} : (tensor<16x3x2x3xf32>) -> tensor<16x2x3x3xf32>
  return %z : tensor<16x2x3x3xf32>
}

// What a layer contracts is transposed itself, and has as many elements as what was last.
// CHECK-LABEL: @features
// CHECK-NEXT: %[[T:.*]] = prim.transpose %arg0
// CHECK-NEXT: nn.linear %[[T]]
func.func @features(%x: tensor<8x4x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4x4xf32> {
  %t = prim.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %y = nn.linear %t, %w {transpose_w = true} : (tensor<8x4x4xf32>, tensor<4x4xf32>) -> tensor<8x4x4xf32>
  %z = prim.transpose %y {permutation = array<i64: 0, 2, 1>} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  return %z : tensor<8x4x4xf32>
}

// ... and so it is where only what is read of the rows has their order.
// CHECK-LABEL: @features_first
// CHECK-NEXT: %[[T:.*]] = prim.transpose %arg0
// CHECK-NEXT: nn.linear %[[T]]
func.func @features_first(%x: tensor<4x8x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x8x4xf32> {
  %t = prim.transpose %x {permutation = array<i64: 2, 1, 0>} : (tensor<4x8x4xf32>) -> tensor<4x8x4xf32>
  %y = nn.linear %t, %w {transpose_w = true} : (tensor<4x8x4xf32>, tensor<4x4xf32>) -> tensor<4x8x4xf32>
  return %y : tensor<4x8x4xf32>
}

// Parts of rows that were split: half of the positions.
// CHECK-LABEL: @part_of_rows
// CHECK-NEXT: nn.linear %arg0
func.func @part_of_rows(%x: tensor<8x6x4xf32>, %w: tensor<6x4xf32>) -> tensor<8x3x6xf32> {
  %t = prim.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<8x6x4xf32>) -> tensor<6x8x4xf32>
  %y = nn.linear %t, %w {transpose_w = true} : (tensor<6x8x4xf32>, tensor<6x4xf32>) -> tensor<6x8x6xf32>
  %p = prim.slice %y {starts = array<i64: 1, 0, 0>, limits = array<i64: 4, 8, 6>, strides = array<i64: 1, 1, 1>} : (tensor<6x8x6xf32>) -> tensor<3x8x6xf32>
  %z = prim.transpose %p {permutation = array<i64: 1, 0, 2>} : (tensor<3x8x6xf32>) -> tensor<8x3x6xf32>
  return %z : tensor<8x3x6xf32>
}

// Without elements there is nothing to move.
// CHECK-LABEL: @empty
// CHECK-NEXT: prim.transpose
// CHECK-NEXT: nn.linear
func.func @empty(%x: tensor<8x5x4xf32>, %w: tensor<0x4xf32>) -> tensor<7x0xf32> {
  %t = prim.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<8x5x4xf32>) -> tensor<5x8x4xf32>
  %y = nn.linear %t, %w {transpose_w = true} : (tensor<5x8x4xf32>, tensor<0x4xf32>) -> tensor<5x8x0xf32>
  %r = prim.reshape %y : (tensor<5x8x0xf32>) -> tensor<0x7xf32>
  %z = prim.transpose %r {permutation = array<i64: 1, 0>} : (tensor<0x7xf32>) -> tensor<7x0xf32>
  return %z : tensor<7x0xf32>
}
