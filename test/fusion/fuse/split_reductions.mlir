// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --split-reductions | FileCheck %s
// UNSUPPORTED: small-thresholds

// Rows of images: enough parts, each small.
// CHECK-LABEL: @batch
// CHECK-NEXT: %[[PARTS:.*]] = prim.reduce sum %arg0 {dimensions = array<i64: 1, 2>} : (tensor<16x16x16x32xf32>) -> tensor<16x32xf32>
// CHECK-NEXT: prim.reduce sum %[[PARTS]] {dimensions = array<i64: 0>} : (tensor<16x32xf32>) -> tensor<32xf32>
func.func @batch(%x: tensor<16x16x16x32xf32>) -> tensor<32xf32> {
  %0 = prim.reduce sum %x {dimensions = array<i64: 0, 1, 2>} : (tensor<16x16x16x32xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}

// Too few images.
// CHECK-LABEL: @few_images
// CHECK-NEXT: prim.reduce max %arg0 {dimensions = array<i64: 2>} : (tensor<2x32x32x48xf32>) -> tensor<2x32x48xf32>
// CHECK-NEXT: prim.reduce max {{.*}} {dimensions = array<i64: 0, 1>} : (tensor<2x32x48xf32>) -> tensor<48xf32>
func.func @few_images(%x: tensor<2x32x32x48xf32>) -> tensor<48xf32> {
  %0 = prim.reduce max %x {dimensions = array<i64: 0, 1, 2>} : (tensor<2x32x32x48xf32>) -> tensor<48xf32>
  return %0 : tensor<48xf32>
}

// Few elements, many columns, and rows as threads like them.
// CHECK-LABEL: @others
// CHECK-NEXT: prim.reduce sum %arg0 {dimensions = array<i64: 0, 1, 2>}
// CHECK-NEXT: prim.reduce sum %arg1 {dimensions = array<i64: 0, 1>}
// CHECK-NEXT: prim.reduce sum %arg2 {dimensions = array<i64: 0, 2, 3>}
// CHECK-NEXT: return
func.func @others(%x: tensor<4x6x6x8xf32>, %y: tensor<8x16x1024xf32>, %z: tensor<16x32x16x16xf32>) -> (tensor<8xf32>, tensor<1024xf32>, tensor<32xf32>) {
  %0 = prim.reduce sum %x {dimensions = array<i64: 0, 1, 2>} : (tensor<4x6x6x8xf32>) -> tensor<8xf32>
  %1 = prim.reduce sum %y {dimensions = array<i64: 0, 1>} : (tensor<8x16x1024xf32>) -> tensor<1024xf32>
  %2 = prim.reduce sum %z {dimensions = array<i64: 0, 2, 3>} : (tensor<16x32x16x16xf32>) -> tensor<32xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<1024xf32>, tensor<32xf32>
}

// A variance: a part's deviations are from its own mean, which is there while the part is in the cache.
// Those from the mean of all, which nobody reads any more, go.
// CHECK-LABEL: @variance
// CHECK: %[[SUMS:.*]] = prim.reduce sum %arg0 {dimensions = array<i64: 1, 2>} : (tensor<16x16x16x32xf32>) -> tensor<16x32xf32>
// CHECK-NOT: prim.sub
// CHECK: %[[OWN:.*]] = prim.mul %[[SUMS]]
// CHECK: %[[MEANS:.*]] = prim.broadcast %[[OWN]] {dimensions = array<i64: 0, 3>} : (tensor<16x32xf32>) -> tensor<16x16x16x32xf32>
// CHECK: %[[D:.*]] = prim.sub %arg0, %[[MEANS]]
// CHECK: %[[S:.*]] = prim.mul %[[D]], %[[D]]
// CHECK: %[[P:.*]] = prim.reduce sum %[[S]] {dimensions = array<i64: 1, 2>}
// CHECK: prim.reduce sum %[[P]] {dimensions = array<i64: 0>}
func.func @variance(%x: tensor<16x16x16x32xf32>) -> tensor<32xf32> {
  %n = prim.constant dense<2.44140625e-04> : tensor<32xf32>
  %0 = prim.reduce sum %x {dimensions = array<i64: 0, 1, 2>} : (tensor<16x16x16x32xf32>) -> tensor<32xf32>
  %1 = prim.mul %0, %n : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %2 = prim.broadcast %1 {dimensions = array<i64: 3>} : (tensor<32xf32>) -> tensor<16x16x16x32xf32>
  %3 = prim.sub %x, %2 : (tensor<16x16x16x32xf32>, tensor<16x16x16x32xf32>) -> tensor<16x16x16x32xf32>
  %4 = prim.mul %3, %3 : (tensor<16x16x16x32xf32>, tensor<16x16x16x32xf32>) -> tensor<16x16x16x32xf32>
  %5 = prim.reduce sum %4 {dimensions = array<i64: 0, 1, 2>} : (tensor<16x16x16x32xf32>) -> tensor<32xf32>
  return %5 : tensor<32xf32>
}

// Sums of squares that are no variance: of another tensor's mean, of another count, along another dimension, of a
// product of two, the greatest square. Each is split as it is: its parts are of the products that it sums.
// CHECK-LABEL: @mean_of_another
// CHECK: %[[D:.*]] = prim.sub
// CHECK-NEXT: %[[Q:.*]] = prim.mul %[[D]]
// CHECK-NEXT: %[[P:.*]] = prim.reduce sum %[[Q]] {dimensions = array<i64: 1, 2>}
// CHECK-NEXT: %[[R:.*]] = prim.reduce sum %[[P]] {dimensions = array<i64: 0>}
// CHECK-NEXT: return %[[R]]
func.func @mean_of_another(%x: tensor<16x16x16x16xf32>, %y: tensor<16x16x16x16xf32>) -> tensor<16xf32> {
  %n = prim.constant dense<2.44140625e-04> : tensor<16xf32>
  %s = prim.reduce sum %y {dimensions = array<i64: 0, 1, 2>} : (tensor<16x16x16x16xf32>) -> tensor<16xf32>
  %m = prim.mul %s, %n : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %b = prim.broadcast %m {dimensions = array<i64: 3>} : (tensor<16xf32>) -> tensor<16x16x16x16xf32>
  %d = prim.sub %x, %b : (tensor<16x16x16x16xf32>, tensor<16x16x16x16xf32>) -> tensor<16x16x16x16xf32>
  %q = prim.mul %d, %d : (tensor<16x16x16x16xf32>, tensor<16x16x16x16xf32>) -> tensor<16x16x16x16xf32>
  %r = prim.reduce sum %q {dimensions = array<i64: 0, 1, 2>} : (tensor<16x16x16x16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// CHECK-LABEL: @another_count
// CHECK: %[[D:.*]] = prim.sub
// CHECK-NEXT: %[[Q:.*]] = prim.mul %[[D]]
// CHECK-NEXT: %[[P:.*]] = prim.reduce sum %[[Q]] {dimensions = array<i64: 1, 2>}
// CHECK-NEXT: %[[R:.*]] = prim.reduce sum %[[P]] {dimensions = array<i64: 0>}
// CHECK-NEXT: return %[[R]]
func.func @another_count(%x: tensor<16x16x16x16xf32>) -> tensor<16xf32> {
  %n = prim.constant dense<1.0e-03> : tensor<16xf32>
  %s = prim.reduce sum %x {dimensions = array<i64: 0, 1, 2>} : (tensor<16x16x16x16xf32>) -> tensor<16xf32>
  %m = prim.mul %s, %n : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %b = prim.broadcast %m {dimensions = array<i64: 3>} : (tensor<16xf32>) -> tensor<16x16x16x16xf32>
  %d = prim.sub %x, %b : (tensor<16x16x16x16xf32>, tensor<16x16x16x16xf32>) -> tensor<16x16x16x16xf32>
  %q = prim.mul %d, %d : (tensor<16x16x16x16xf32>, tensor<16x16x16x16xf32>) -> tensor<16x16x16x16xf32>
  %r = prim.reduce sum %q {dimensions = array<i64: 0, 1, 2>} : (tensor<16x16x16x16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// CHECK-LABEL: @mean_along_another_dimension
// CHECK: %[[D:.*]] = prim.sub
// CHECK-NEXT: %[[Q:.*]] = prim.mul %[[D]]
// CHECK-NEXT: %[[P:.*]] = prim.reduce sum %[[Q]] {dimensions = array<i64: 1, 2>}
// CHECK-NEXT: %[[R:.*]] = prim.reduce sum %[[P]] {dimensions = array<i64: 0>}
// CHECK-NEXT: return %[[R]]
func.func @mean_along_another_dimension(%x: tensor<16x16x16x16xf32>) -> tensor<16xf32> {
  %n = prim.constant dense<2.44140625e-04> : tensor<16xf32>
  %s = prim.reduce sum %x {dimensions = array<i64: 0, 1, 2>} : (tensor<16x16x16x16xf32>) -> tensor<16xf32>
  %m = prim.mul %s, %n : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %b = prim.broadcast %m {dimensions = array<i64: 2>} : (tensor<16xf32>) -> tensor<16x16x16x16xf32>
  %d = prim.sub %x, %b : (tensor<16x16x16x16xf32>, tensor<16x16x16x16xf32>) -> tensor<16x16x16x16xf32>
  %q = prim.mul %d, %d : (tensor<16x16x16x16xf32>, tensor<16x16x16x16xf32>) -> tensor<16x16x16x16xf32>
  %r = prim.reduce sum %q {dimensions = array<i64: 0, 1, 2>} : (tensor<16x16x16x16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// CHECK-LABEL: @product_of_two
// CHECK: %[[D:.*]] = prim.sub
// CHECK-NEXT: %[[Q:.*]] = prim.mul %[[D]]
// CHECK-NEXT: %[[P:.*]] = prim.reduce sum %[[Q]] {dimensions = array<i64: 1, 2>}
// CHECK-NEXT: %[[R:.*]] = prim.reduce sum %[[P]] {dimensions = array<i64: 0>}
// CHECK-NEXT: return %[[R]]
func.func @product_of_two(%x: tensor<16x16x16x16xf32>) -> tensor<16xf32> {
  %n = prim.constant dense<2.44140625e-04> : tensor<16xf32>
  %s = prim.reduce sum %x {dimensions = array<i64: 0, 1, 2>} : (tensor<16x16x16x16xf32>) -> tensor<16xf32>
  %m = prim.mul %s, %n : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %b = prim.broadcast %m {dimensions = array<i64: 3>} : (tensor<16xf32>) -> tensor<16x16x16x16xf32>
  %d = prim.sub %x, %b : (tensor<16x16x16x16xf32>, tensor<16x16x16x16xf32>) -> tensor<16x16x16x16xf32>
  %q = prim.mul %d, %x : (tensor<16x16x16x16xf32>, tensor<16x16x16x16xf32>) -> tensor<16x16x16x16xf32>
  %r = prim.reduce sum %q {dimensions = array<i64: 0, 1, 2>} : (tensor<16x16x16x16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// CHECK-LABEL: @greatest_square
// CHECK: %[[D:.*]] = prim.sub
// CHECK-NEXT: %[[Q:.*]] = prim.mul %[[D]]
// CHECK-NEXT: %[[P:.*]] = prim.reduce max %[[Q]] {dimensions = array<i64: 1, 2>}
// CHECK-NEXT: %[[R:.*]] = prim.reduce max %[[P]] {dimensions = array<i64: 0>}
// CHECK-NEXT: return %[[R]]
func.func @greatest_square(%x: tensor<16x16x16x16xf32>) -> tensor<16xf32> {
  %n = prim.constant dense<2.44140625e-04> : tensor<16xf32>
  %s = prim.reduce sum %x {dimensions = array<i64: 0, 1, 2>} : (tensor<16x16x16x16xf32>) -> tensor<16xf32>
  %m = prim.mul %s, %n : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %b = prim.broadcast %m {dimensions = array<i64: 3>} : (tensor<16xf32>) -> tensor<16x16x16x16xf32>
  %d = prim.sub %x, %b : (tensor<16x16x16x16xf32>, tensor<16x16x16x16xf32>) -> tensor<16x16x16x16xf32>
  %q = prim.mul %d, %d : (tensor<16x16x16x16xf32>, tensor<16x16x16x16xf32>) -> tensor<16x16x16x16xf32>
  %r = prim.reduce max %q {dimensions = array<i64: 0, 1, 2>} : (tensor<16x16x16x16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// What is accumulated of 16-bit floats is more than what a part would store; parts of few rows are no work.
// CHECK-LABEL: @whole
// CHECK-NEXT: prim.reduce sum %arg0 {dimensions = array<i64: 0, 1>}
// CHECK-NEXT: prim.reduce sum %arg1 {dimensions = array<i64: 0, 1>}
// CHECK-NEXT: return
func.func @whole(%x: tensor<64x64x64xbf16>, %y: tensor<64x4x300xf32>) -> (tensor<64xbf16>, tensor<300xf32>) {
  %0 = prim.reduce sum %x {dimensions = array<i64: 0, 1>} : (tensor<64x64x64xbf16>) -> tensor<64xbf16>
  %1 = prim.reduce sum %y {dimensions = array<i64: 0, 1>} : (tensor<64x4x300xf32>) -> tensor<300xf32>
  return %0, %1 : tensor<64xbf16>, tensor<300xf32>
}

// One number of many elements: a task for each of the threads of most machines. Of several numbers each is one.
// CHECK-LABEL: @to_scalars
// CHECK-NEXT: %[[PARTS:.*]] = prim.reduce sum %arg0 {dimensions = array<i64: 1, 2>} : (tensor<32x256x256xf32>) -> tensor<32xf32>
// CHECK-NEXT: prim.reduce sum %[[PARTS]] {dimensions = array<i64: 0>} : (tensor<32xf32>) -> tensor<f32>
// CHECK-NEXT: %[[FLAT:.*]] = prim.reshape %arg1 : (tensor<1048576xf32>) -> tensor<16x65536xf32>
// CHECK-NEXT: %[[PARTS:.*]] = prim.reduce sum %[[FLAT]] {dimensions = array<i64: 1>}
// CHECK-NEXT: prim.reduce sum %[[PARTS]] {dimensions = array<i64: 0>} : (tensor<16xf32>) -> tensor<f32>
// CHECK-NEXT: prim.reduce sum %arg2 {dimensions = array<i64: 1>}
// CHECK-NEXT: return
func.func @to_scalars(%x: tensor<32x256x256xf32>, %y: tensor<1048576xf32>, %z: tensor<16x1048576xf32>) -> (tensor<f32>, tensor<f32>, tensor<16xf32>) {
  %0 = prim.reduce sum %x {dimensions = array<i64: 0, 1, 2>} : (tensor<32x256x256xf32>) -> tensor<f32>
  %1 = prim.reduce sum %y {dimensions = array<i64: 0>} : (tensor<1048576xf32>) -> tensor<f32>
  %2 = prim.reduce sum %z {dimensions = array<i64: 1>} : (tensor<16x1048576xf32>) -> tensor<16xf32>
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<16xf32>
}
