// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --split-reductions=target=cuda | FileCheck %s
// UNSUPPORTED: small-thresholds

// Channels between the dimensions that are reduced: a block for each would leave most of a GPU idle.
// CHECK-LABEL: @channels
// CHECK-NEXT: %[[PARTS:.*]] = prim.reduce sum %arg0 {dimensions = array<i64: 2, 3>} : (tensor<32x64x112x112xf32>) -> tensor<32x64xf32>
// CHECK-NEXT: prim.reduce sum %[[PARTS]] {dimensions = array<i64: 0>} : (tensor<32x64xf32>) -> tensor<64xf32>
func.func @channels(%x: tensor<32x64x112x112xf32>) -> tensor<64xf32> {
  %0 = prim.reduce sum %x {dimensions = array<i64: 0, 2, 3>} : (tensor<32x64x112x112xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// Images are parts as long as a warp has several elements for each lane; but those of many channels must be larger.
// CHECK-LABEL: @small_images
// CHECK-NEXT: %[[PARTS:.*]] = prim.reduce sum %arg0 {dimensions = array<i64: 2, 3>} : (tensor<256x64x14x14xf32>) -> tensor<256x64xf32>
// CHECK-NEXT: prim.reduce sum %[[PARTS]] {dimensions = array<i64: 0>} : (tensor<256x64xf32>) -> tensor<64xf32>
// CHECK-NEXT: prim.reduce sum %arg1 {dimensions = array<i64: 0, 2, 3>}
// CHECK-NEXT: prim.reduce sum %arg2 {dimensions = array<i64: 0, 2, 3>}
// CHECK-NEXT: return
func.func @small_images(%x: tensor<256x64x14x14xf32>, %y: tensor<512x64x7x7xf32>, %z: tensor<8x144x56x56xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<144xf32>) {
  %0 = prim.reduce sum %x {dimensions = array<i64: 0, 2, 3>} : (tensor<256x64x14x14xf32>) -> tensor<64xf32>
  %1 = prim.reduce sum %y {dimensions = array<i64: 0, 2, 3>} : (tensor<512x64x7x7xf32>) -> tensor<64xf32>
  %2 = prim.reduce sum %z {dimensions = array<i64: 0, 2, 3>} : (tensor<8x144x56x56xf32>) -> tensor<144xf32>
  return %0, %1, %2 : tensor<64xf32>, tensor<64xf32>, tensor<144xf32>
}

// The innermost dimension stays: columns, whose threads would walk 200,704 rows each.
// CHECK-LABEL: @columns_between
// CHECK-NEXT: %[[PARTS:.*]] = prim.reduce sum %arg0 {dimensions = array<i64: 3>} : (tensor<3x4096x3x49x32xf32>) -> tensor<3x4096x3x32xf32>
// CHECK-NEXT: prim.reduce sum %[[PARTS]] {dimensions = array<i64: 1>} : (tensor<3x4096x3x32xf32>) -> tensor<3x3x32xf32>
func.func @columns_between(%x: tensor<3x4096x3x49x32xf32>) -> tensor<3x3x32xf32> {
  %0 = prim.reduce sum %x {dimensions = array<i64: 1, 3>} : (tensor<3x4096x3x49x32xf32>) -> tensor<3x3x32xf32>
  return %0 : tensor<3x3x32xf32>
}

// Enough channels, and those of which a block holds all elements in registers.
// CHECK-LABEL: @others
// CHECK-NEXT: prim.reduce sum %arg0 {dimensions = array<i64: 0, 2, 3>}
// CHECK-NEXT: prim.reduce sum %arg1 {dimensions = array<i64: 0, 2, 3>}
// CHECK-NEXT: return
func.func @others(%x: tensor<32x512x56x56xf32>, %y: tensor<16x64x28x28xf32>) -> (tensor<512xf32>, tensor<64xf32>) {
  %0 = prim.reduce sum %x {dimensions = array<i64: 0, 2, 3>} : (tensor<32x512x56x56xf32>) -> tensor<512xf32>
  %1 = prim.reduce sum %y {dimensions = array<i64: 0, 2, 3>} : (tensor<16x64x28x28xf32>) -> tensor<64xf32>
  return %0, %1 : tensor<512xf32>, tensor<64xf32>
}

// Each image's deviations are from its own mean, so that they are found in one walk over the image.
// CHECK-LABEL: @variance
// CHECK: %[[SUMS:.*]] = prim.reduce sum %arg0 {dimensions = array<i64: 2, 3>} : (tensor<32x64x112x112xf32>) -> tensor<32x64xf32>
// CHECK: %[[OWN:.*]] = prim.mul %[[SUMS]]
// CHECK: %[[MEANS:.*]] = prim.broadcast %[[OWN]] {dimensions = array<i64: 0, 1>} : (tensor<32x64xf32>) -> tensor<32x64x112x112xf32>
// CHECK: %[[D:.*]] = prim.sub %arg0, %[[MEANS]]
// CHECK: %[[S:.*]] = prim.mul %[[D]], %[[D]]
// CHECK: %[[P:.*]] = prim.reduce sum %[[S]] {dimensions = array<i64: 2, 3>}
// CHECK: prim.reduce sum %[[P]] {dimensions = array<i64: 0>}
func.func @variance(%x: tensor<32x64x112x112xf32>) -> tensor<64xf32> {
  %n = prim.constant dense<2.49123087e-06> : tensor<64xf32>
  %0 = prim.reduce sum %x {dimensions = array<i64: 0, 2, 3>} : (tensor<32x64x112x112xf32>) -> tensor<64xf32>
  %1 = prim.mul %0, %n : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = prim.broadcast %1 {dimensions = array<i64: 1>} : (tensor<64xf32>) -> tensor<32x64x112x112xf32>
  %3 = prim.sub %x, %2 : (tensor<32x64x112x112xf32>, tensor<32x64x112x112xf32>) -> tensor<32x64x112x112xf32>
  %4 = prim.mul %3, %3 : (tensor<32x64x112x112xf32>, tensor<32x64x112x112xf32>) -> tensor<32x64x112x112xf32>
  %5 = prim.reduce sum %4 {dimensions = array<i64: 0, 2, 3>} : (tensor<32x64x112x112xf32>) -> tensor<64xf32>
  return %5 : tensor<64xf32>
}

// Sums over all rows beside sums of each row, of what is known last: in strips, which one kernel finds with the rows.
// CHECK-LABEL: @rows_and_columns
// CHECK: %[[X:.*]] = prim.reshape %arg0 : (tensor<8x1024x768xf32>) -> tensor<512x16x768xf32>
// CHECK: %[[P:.*]] = prim.reduce sum %[[X]] {dimensions = array<i64: 1>} : (tensor<512x16x768xf32>) -> tensor<512x768xf32>
// CHECK: prim.reduce sum %[[P]] {dimensions = array<i64: 0>} : (tensor<512x768xf32>) -> tensor<768xf32>
func.func @rows_and_columns(%x: tensor<8x1024x768xf32>) -> (tensor<8x1024xf32>, tensor<768xf32>) {
  %0 = prim.mul %x, %x : (tensor<8x1024x768xf32>, tensor<8x1024x768xf32>) -> tensor<8x1024x768xf32>
  %1 = prim.reduce sum %0 {dimensions = array<i64: 2>} : (tensor<8x1024x768xf32>) -> tensor<8x1024xf32>
  %2 = prim.reduce sum %x {dimensions = array<i64: 0, 1>} : (tensor<8x1024x768xf32>) -> tensor<768xf32>
  return %1, %2 : tensor<8x1024xf32>, tensor<768xf32>
}

// The rows are reduced before dy is known; they are not reduced; there are few; no strips of equal length.
// CHECK-LABEL: @columns_alone
// CHECK-NOT: prim.reshape
func.func @columns_alone(%x: tensor<8x1024x768xf32>, %w: tensor<768x768xf32>, %z: tensor<4x16x768xf32>, %u: tensor<8209x768xf32>) -> (tensor<768xf32>, tensor<8x1024xf32>, tensor<768xf32>, tensor<4x16xf32>, tensor<768xf32>, tensor<8209xf32>) {
  %0 = prim.reduce sum %x {dimensions = array<i64: 2>} : (tensor<8x1024x768xf32>) -> tensor<8x1024xf32>
  %dy = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x1024x768xf32>, tensor<768x768xf32>) -> tensor<8x1024x768xf32>
  %1 = prim.mul %x, %dy : (tensor<8x1024x768xf32>, tensor<8x1024x768xf32>) -> tensor<8x1024x768xf32>
  %2 = prim.reduce sum %1 {dimensions = array<i64: 0, 1>} : (tensor<8x1024x768xf32>) -> tensor<768xf32>
  %3 = prim.reduce sum %z {dimensions = array<i64: 0, 1>} : (tensor<4x16x768xf32>) -> tensor<768xf32>
  %4 = prim.reduce sum %z {dimensions = array<i64: 2>} : (tensor<4x16x768xf32>) -> tensor<4x16xf32>
  %5 = prim.reduce sum %u {dimensions = array<i64: 0>} : (tensor<8209x768xf32>) -> tensor<768xf32>
  %6 = prim.reduce sum %u {dimensions = array<i64: 1>} : (tensor<8209x768xf32>) -> tensor<8209xf32>
  return %2, %0, %3, %4, %5, %6 : tensor<768xf32>, tensor<8x1024xf32>, tensor<768xf32>, tensor<4x16xf32>, tensor<768xf32>, tensor<8209xf32>
}

// Deviations along other dimensions than the sum that they are from: its parts, though as many, are others.
// CHECK-LABEL: @deviations_along_others
// CHECK: %[[PARTS:.*]] = prim.reduce sum %arg0 {dimensions = array<i64: 2, 3>}
// CHECK-NOT: prim.mul %[[PARTS]]
// CHECK: return
func.func @deviations_along_others(%x: tensor<32x32x32x1024xf32>) -> tensor<32xf32> {
  %n = prim.constant dense<9.5367431640625e-07> : tensor<32xf32>
  %0 = prim.reduce sum %x {dimensions = array<i64: 1, 2, 3>} : (tensor<32x32x32x1024xf32>) -> tensor<32xf32>
  %1 = prim.mul %0, %n : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %2 = prim.broadcast %1 {dimensions = array<i64: 2>} : (tensor<32xf32>) -> tensor<32x32x32x1024xf32>
  %3 = prim.sub %x, %2 : (tensor<32x32x32x1024xf32>, tensor<32x32x32x1024xf32>) -> tensor<32x32x32x1024xf32>
  %4 = prim.mul %3, %3 : (tensor<32x32x32x1024xf32>, tensor<32x32x32x1024xf32>) -> tensor<32x32x32x1024xf32>
  %5 = prim.reduce sum %4 {dimensions = array<i64: 0, 1, 3>} : (tensor<32x32x32x1024xf32>) -> tensor<32xf32>
  return %5 : tensor<32xf32>
}

// The same where the parts are of one dimension, but reduce others.
// CHECK-LABEL: @deviations_of_other_parts
// CHECK: %[[PARTS:.*]] = prim.reduce sum %arg0 {dimensions = array<i64: 1, 3>}
// CHECK-NOT: prim.mul %[[PARTS]]
// CHECK: prim.reduce sum {{.*}} {dimensions = array<i64: 2, 3>} : (tensor<64x32x32x1024xf32>) -> tensor<64x32xf32>
// CHECK: return
func.func @deviations_of_other_parts(%x: tensor<64x32x32x1024xf32>) -> tensor<32xf32> {
  %n = prim.constant dense<4.76837158203125e-07> : tensor<32xf32>
  %0 = prim.reduce sum %x {dimensions = array<i64: 0, 1, 3>} : (tensor<64x32x32x1024xf32>) -> tensor<32xf32>
  %1 = prim.mul %0, %n : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %2 = prim.broadcast %1 {dimensions = array<i64: 1>} : (tensor<32xf32>) -> tensor<64x32x32x1024xf32>
  %3 = prim.sub %x, %2 : (tensor<64x32x32x1024xf32>, tensor<64x32x32x1024xf32>) -> tensor<64x32x32x1024xf32>
  %4 = prim.mul %3, %3 : (tensor<64x32x32x1024xf32>, tensor<64x32x32x1024xf32>) -> tensor<64x32x32x1024xf32>
  %5 = prim.reduce sum %4 {dimensions = array<i64: 0, 2, 3>} : (tensor<64x32x32x1024xf32>) -> tensor<32xf32>
  return %5 : tensor<32xf32>
}

// All of one dimension, to one number; columns that few threads would walk along 100,000 rows.
// CHECK-LABEL: @cut
// CHECK-NEXT: %[[FLAT:.*]] = prim.reshape %arg0 : (tensor<1x1000000xf32>) -> tensor<1x625x1600xf32>
// CHECK-NEXT: %[[PARTS:.*]] = prim.reduce max %[[FLAT]] {dimensions = array<i64: 2>}
// CHECK-NEXT: prim.reduce max %[[PARTS]] {dimensions = array<i64: 0, 1>}
// CHECK-NEXT: %[[ROWS:.*]] = prim.reshape %arg1 : (tensor<100000x8xf32>) -> tensor<625x160x8xf32>
// CHECK-NEXT: %[[COLUMNS:.*]] = prim.reduce sum %[[ROWS]] {dimensions = array<i64: 1>}
// CHECK-NEXT: prim.reduce sum %[[COLUMNS]] {dimensions = array<i64: 0>} : (tensor<625x8xf32>) -> tensor<8xf32>
func.func @cut(%x: tensor<1x1000000xf32>, %y: tensor<100000x8xf32>) -> (tensor<f32>, tensor<8xf32>) {
  %0 = prim.reduce max %x {dimensions = array<i64: 0, 1>} : (tensor<1x1000000xf32>) -> tensor<f32>
  %1 = prim.reduce sum %y {dimensions = array<i64: 0>} : (tensor<100000x8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<f32>, tensor<8xf32>
}

// Whole dimensions are parts enough, and fewer rows than are worth it; no divisor.
// CHECK-LABEL: @not_cut
// CHECK-NEXT: prim.reduce sum %arg0 {dimensions = array<i64: 1>} : (tensor<64x1000000xf32>) -> tensor<64xf32>
// CHECK-NEXT: prim.reduce sum {{.*}} {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<f32>
// CHECK-NEXT: prim.reduce sum %arg1 {dimensions = array<i64: 0>}
// CHECK-NEXT: prim.reduce sum %arg2 {dimensions = array<i64: 0>}
// CHECK-NEXT: return
func.func @not_cut(%x: tensor<64x1000000xf32>, %y: tensor<1024x768xf32>, %z: tensor<1000003xf32>) -> (tensor<f32>, tensor<768xf32>, tensor<f32>) {
  %0 = prim.reduce sum %x {dimensions = array<i64: 0, 1>} : (tensor<64x1000000xf32>) -> tensor<f32>
  %1 = prim.reduce sum %y {dimensions = array<i64: 0>} : (tensor<1024x768xf32>) -> tensor<768xf32>
  %2 = prim.reduce sum %z {dimensions = array<i64: 0>} : (tensor<1000003xf32>) -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<768xf32>, tensor<f32>
}

// The deviations of parts are from their own means, whichever shape the parts are in.
// CHECK-LABEL: @variance_of_one
// CHECK: %[[FLAT:.*]] = prim.reshape %arg0 : (tensor<1000000xf32>) -> tensor<625x1600xf32>
// CHECK: %[[SUMS:.*]] = prim.reduce sum %[[FLAT]] {dimensions = array<i64: 1>}
// CHECK: %[[OWN:.*]] = prim.mul %[[SUMS]]
// CHECK: %[[MEANS:.*]] = prim.broadcast %[[OWN]] {dimensions = array<i64: 0>} : (tensor<625xf32>) -> tensor<625x1600xf32>
// CHECK: prim.sub {{.*}}, %[[MEANS]]
func.func @variance_of_one(%x: tensor<1000000xf32>) -> tensor<f32> {
  %n = prim.constant dense<1.0e-06> : tensor<f32>
  %0 = prim.reduce sum %x {dimensions = array<i64: 0>} : (tensor<1000000xf32>) -> tensor<f32>
  %1 = prim.mul %0, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = prim.broadcast %1 {dimensions = array<i64>} : (tensor<f32>) -> tensor<1000000xf32>
  %3 = prim.sub %x, %2 : (tensor<1000000xf32>, tensor<1000000xf32>) -> tensor<1000000xf32>
  %4 = prim.mul %3, %3 : (tensor<1000000xf32>, tensor<1000000xf32>) -> tensor<1000000xf32>
  %5 = prim.reduce sum %4 {dimensions = array<i64: 0>} : (tensor<1000000xf32>) -> tensor<f32>
  return %5 : tensor<f32>
}

// The place of an extreme element: that in each part, the first part of the greatest of these, the place there. Lines
// that are short, or many, are one part.
// CHECK-LABEL: @places
// CHECK: %[[PARTS:.*]] = prim.reshape %arg0 : (tensor<2x65536x3xf32>) -> tensor<1024x128x3xf32>
// CHECK: %[[PLACE:.*]] = prim.arg_reduce max %[[PARTS]] {dimension = 1 : i64} : (tensor<1024x128x3xf32>) -> tensor<1024x3xi64>
// CHECK: %[[FLAT:.*]] = prim.reshape %[[PARTS]] : (tensor<1024x128x3xf32>) -> tensor<393216xf32>
// CHECK: %[[GREATEST:.*]] = prim.gather %[[FLAT]], %{{.*}} : (tensor<393216xf32>, tensor<1024x3xi64>) -> tensor<1024x3xf32>
// CHECK: %[[BYLINE:.*]] = prim.reshape %[[GREATEST]] : (tensor<1024x3xf32>) -> tensor<2x512x3xf32>
// CHECK: %[[PART:.*]] = prim.arg_reduce max %[[BYLINE]] {dimension = 1 : i64} : (tensor<2x512x3xf32>) -> tensor<2x3xi64>
// CHECK: %[[IN:.*]] = prim.gather {{.*}} (tensor<3072xi64>, tensor<2x3xi64>) -> tensor<2x3xi64>
// CHECK: %[[LENGTH:.*]] = prim.constant dense<128>
// CHECK: %[[START:.*]] = prim.mul %[[PART]], %[[LENGTH]]
// CHECK: %[[R:.*]] = prim.add %[[START]], %[[IN]]
// CHECK: %[[SHORT:.*]] = prim.arg_reduce min %arg1
// CHECK: %[[MANY:.*]] = prim.arg_reduce max %arg2
// CHECK: return %[[R]], %[[SHORT]], %[[MANY]]
func.func @places(%x: tensor<2x65536x3xf32>, %y: tensor<4x1000xf32>, %z: tensor<4096x32768xf32>) -> (tensor<2x3xi64>, tensor<4xi64>, tensor<4096xi64>) {
  %0 = prim.arg_reduce max %x {dimension = 1 : i64} : (tensor<2x65536x3xf32>) -> tensor<2x3xi64>
  %1 = prim.arg_reduce min %y {dimension = 1 : i64} : (tensor<4x1000xf32>) -> tensor<4xi64>
  %2 = prim.arg_reduce max %z {dimension = 1 : i64} : (tensor<4096x32768xf32>) -> tensor<4096xi64>
  return %0, %1, %2 : tensor<2x3xi64>, tensor<4xi64>, tensor<4096xi64>
}

// Whether all of a gradient is finite: of booleans no part takes more than an element.
// CHECK-LABEL: @truth
// CHECK-NEXT: %[[PARTS:.*]] = prim.reduce all %arg0 {dimensions = array<i64: 1>} : (tensor<1024x768xi1>) -> tensor<1024xi1>
// CHECK-NEXT: prim.reduce all %[[PARTS]] {dimensions = array<i64: 0>} : (tensor<1024xi1>) -> tensor<i1>
func.func @truth(%x: tensor<1024x768xi1>) -> tensor<i1> {
  %0 = prim.reduce all %x {dimensions = array<i64: 0, 1>} : (tensor<1024x768xi1>) -> tensor<i1>
  return %0 : tensor<i1>
}
