// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt --form-fusions %s | FileCheck %s

// What every access walks as one is one dimension; what a broadcast walks alone is not.
// CHECK-LABEL: @collapsed
// CHECK: prim.fusion loop "neg"{{.*}} walks <extents = [1, 20], reduced = [], levels = [], depths = [0], in_place = [0],
// CHECK-SAME: accesses = (d0, d1) -> (d1 + d0 * 5)>
func.func @collapsed(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = prim.neg %x : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// CHECK-LABEL: @bias
// CHECK: prim.fusion loop "add"{{.*}} walks <extents = [1, 6, 5], {{.*}} in_place = [0],
// CHECK-SAME: accesses = (d0, d1, d2) -> (d2 + d1 * 5 + d0 * 15, d2)>
func.func @bias(%x: tensor<2x3x5xf32>, %b: tensor<5xf32>) -> tensor<2x3x5xf32> {
  %0 = prim.broadcast %b {dimensions = array<i64: 2>} : (tensor<5xf32>) -> tensor<2x3x5xf32>
  %1 = prim.add %x, %0 : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %1 : tensor<2x3x5xf32>
}

// Each half lies in memory like rows of one tensor, but only an index below 16 is known to be in the half.
// CHECK-LABEL: @halves
// CHECK: prim.fusion loop {{.*}} walks <extents = [6, 16],
// CHECK-SAME: accesses = (d0, d1) -> (d1 + d0 * 16, d1 + d0 * 16 + 96)>
func.func @halves(%x: tensor<2x6x16xf32>) -> tensor<6x16xf32> {
  %0 = prim.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x6x16xf32>) -> tensor<6x2x16xf32>
  %1 = prim.reshape %0 : (tensor<6x2x16xf32>) -> tensor<6x32xf32>
  %2 = prim.slice %1 {starts = array<i64: 0, 0>, limits = array<i64: 6, 16>, strides = array<i64: 1, 1>} : (tensor<6x32xf32>) -> tensor<6x16xf32>
  %3 = prim.slice %1 {starts = array<i64: 0, 16>, limits = array<i64: 6, 32>, strides = array<i64: 1, 1>} : (tensor<6x32xf32>) -> tensor<6x16xf32>
  %4 = prim.add %2, %3 : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  return %4 : tensor<6x16xf32>
}

// Outer dimensions that every access walks as one still are, where the innermost stays apart.
// CHECK-LABEL: @halves_of_many
// CHECK: prim.fusion loop {{.*}} walks <extents = [1, 12, 16],
func.func @halves_of_many(%x: tensor<2x2x6x16xf32>) -> tensor<2x6x16xf32> {
  %0 = prim.transpose %x {permutation = array<i64: 1, 2, 0, 3>} : (tensor<2x2x6x16xf32>) -> tensor<2x6x2x16xf32>
  %1 = prim.reshape %0 : (tensor<2x6x2x16xf32>) -> tensor<2x6x32xf32>
  %2 = prim.slice %1 {starts = array<i64: 0, 0, 16>, limits = array<i64: 2, 6, 32>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x32xf32>) -> tensor<2x6x16xf32>
  %3 = prim.neg %2 : (tensor<2x6x16xf32>) -> tensor<2x6x16xf32>
  return %3 : tensor<2x6x16xf32>
}

// Softmax: the sum stands behind the maximum, the quotient behind both.
// CHECK-LABEL: @levels
// CHECK: prim.fusion reduce {{.*}} walks <extents = [4, 5], reduced = [1], levels = [0, 1], depths = [2], in_place = [],
func.func @levels(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = prim.reduce max %x {dimensions = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4xf32>
  %1 = prim.broadcast %0 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x5xf32>
  %2 = prim.sub %x, %1 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %3 = prim.exp %2 : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %4 = prim.reduce sum %3 {dimensions = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4xf32>
  %5 = prim.broadcast %4 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x5xf32>
  %6 = prim.div %3, %5 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return %6 : tensor<4x5xf32>
}

// What takes an index apart and puts it together again, in several steps, changes nothing.
// CHECK-LABEL: @reshaped
// CHECK: prim.fusion reduce {{.*}} walks <extents = [4, 60], {{.*}} accesses = (d0, d1) -> (d1 + d0 * 60, d0)>
func.func @reshaped(%x: tensor<4x6x5x2xf32>) -> tensor<4xf32> {
  %0 = prim.neg %x : (tensor<4x6x5x2xf32>) -> tensor<4x6x5x2xf32>
  %1 = prim.reshape %0 : (tensor<4x6x5x2xf32>) -> tensor<4x60xf32>
  %2 = prim.reduce sum %1 {dimensions = array<i64: 1>} : (tensor<4x60xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// An index that is data is a symbol; what decides whether memory is read counts as an access.
// CHECK-LABEL: @symbols
// CHECK: prim.fusion loop {{.*}} accesses = (d0, d1)[s0] -> (d0, d1 + s0 * 5, d1 + d0 * 5)>
func.func @symbols(%x: tensor<4x5xf32>, %i: tensor<3xi64>) -> tensor<3x5xf32> {
  %0 = prim.gather %x, %i {axis = 0 : i64} : (tensor<4x5xf32>, tensor<3xi64>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// CHECK-LABEL: @masks
// CHECK: prim.fusion loop {{.*}} walks <extents = [7],
// CHECK-SAME: accesses = (d0) -> (d0 - 1
func.func @masks(%x: tensor<5xf32>) -> tensor<7xf32> {
  %z = prim.constant dense<0.0> : tensor<f32>
  %0 = prim.pad %x, %z {low = array<i64: 1>, high = array<i64: 1>, interior = array<i64: 0>}
      : (tensor<5xf32>, tensor<f32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// What is cut off and filled up again stands where it stood, whatever it is called between; what is filled up
// before it, or what two of its elements are computed from, does not.
// CHECK-LABEL: @cut_and_filled
// CHECK: prim.fusion loop "slice_neg_pad"{{.*}} in_place = [0],
func.func @cut_and_filled(%x: tensor<2x4x5xf32>, %zero: tensor<f32>) -> tensor<2x4x5xf32> {
  %0 = prim.slice %x {starts = array<i64: 0, 0, 0>, limits = array<i64: 2, 3, 5>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %1 = prim.reshape %0 : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
  %2 = prim.neg %1 : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %3 = prim.reshape %2 : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  %4 = prim.pad %3, %zero {low = array<i64: 0, 0, 0>, high = array<i64: 0, 1, 0>, interior = array<i64: 0, 0, 0>} : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x4x5xf32>
  return %4 : tensor<2x4x5xf32>
}

// CHECK-LABEL: @moved
// CHECK: prim.fusion loop "slice_neg_pad"{{.*}} in_place = [],
func.func @moved(%x: tensor<4x5xf32>, %zero: tensor<f32>) -> tensor<4x5xf32> {
  %0 = prim.slice %x {starts = array<i64: 0, 0>, limits = array<i64: 4, 4>, strides = array<i64: 1, 1>} : (tensor<4x5xf32>) -> tensor<4x4xf32>
  %1 = prim.neg %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = prim.pad %1, %zero {low = array<i64: 0, 1>, high = array<i64: 0, 0>, interior = array<i64: 0, 0>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x5xf32>
  return %2 : tensor<4x5xf32>
}

// CHECK-LABEL: @read_twice
// CHECK: prim.fusion loop "neg_slice_pad_add"{{.*}} in_place = [],
func.func @read_twice(%x: tensor<4x5xf32>, %zero: tensor<f32>) -> tensor<4x5xf32> {
  %0 = prim.neg %x : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = prim.slice %x {starts = array<i64: 0, 1>, limits = array<i64: 4, 5>, strides = array<i64: 1, 1>} : (tensor<4x5xf32>) -> tensor<4x4xf32>
  %2 = prim.pad %1, %zero {low = array<i64: 0, 0>, high = array<i64: 0, 1>, interior = array<i64: 0, 0>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x5xf32>
  %3 = prim.add %0, %2 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return %3 : tensor<4x5xf32>
}

// CHECK-LABEL: @every_other
// CHECK: prim.fusion loop {{.*}} in_place = [],
func.func @every_other(%x: tensor<4x6xf32>, %zero: tensor<f32>) -> tensor<4x6xf32> {
  %0 = prim.slice %x {starts = array<i64: 0, 0>, limits = array<i64: 4, 6>, strides = array<i64: 1, 2>} : (tensor<4x6xf32>) -> tensor<4x3xf32>
  %1 = prim.pad %0, %zero {low = array<i64: 0, 0>, high = array<i64: 0, 3>, interior = array<i64: 0, 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  %2 = prim.neg %1 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// A tensor and a concatenation of tensors of its shape: every step gives an element of each piece.
// CHECK-LABEL: @pieces
// CHECK: prim.fusion loop "add_mul_concatenate"{{.*}} -> (tensor<4x8xf32>, tensor<4x16xf32>) walks <extents = [4, 8],
// CHECK-SAME: in_place = [], accesses = (d0, d1) -> (d1 + d0 * 8, d1 + d0 * 16, d1 + d0 * 16 + 8)>
// CHECK-NOT: prim.fusion
// CHECK: return
func.func @pieces(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x16xf32>) {
  %0 = prim.add %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = prim.mul %0, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = prim.concatenate %0, %1 {dimension = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %0, %2 : tensor<4x8xf32>, tensor<4x16xf32>
}

// Pieces of different shapes are walked as a whole, by a kernel of its own.
// CHECK-LABEL: @uneven_pieces
// CHECK: prim.fusion loop "neg"
// CHECK: prim.fusion loop "concatenate"{{.*}} walks <extents = [4, 11],
func.func @uneven_pieces(%x: tensor<4x8xf32>, %y: tensor<4x3xf32>) -> (tensor<4x8xf32>, tensor<4x11xf32>) {
  %0 = prim.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = prim.concatenate %0, %y {dimension = 1 : i64} : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x11xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x11xf32>
}

// The smallest result has the shape that is walked, wherever it stands.
// CHECK-LABEL: @pieces_first
// CHECK: prim.fusion loop "neg_concatenate_exp"{{.*}} -> (tensor<4x16xf32>, tensor<4x8xf32>) walks <extents = [4, 8],
// CHECK-NOT: prim.fusion
// CHECK: return
func.func @pieces_first(%x: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x8xf32>) {
  %0 = prim.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = prim.concatenate %x, %0 {dimension = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %2 = prim.exp %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %2 : tensor<4x16xf32>, tensor<4x8xf32>
}
