// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --lay-out-convolutions | FileCheck %s

// Two convolutions with a normalisation between them: one transpose before, one behind.
// CHECK-LABEL: @between
// CHECK-NEXT: %[[X:.*]] = prim.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<8x3x16x16xf32>) -> tensor<8x16x16x3xf32>
// CHECK-NEXT: %[[Y:.*]] = prim.convolution %[[X]], %arg1 {channels_last = true, {{.*}} -> tensor<8x16x16x4xf32>
// CHECK-NEXT: %[[SUM:.*]] = prim.reduce sum %[[Y]] {dimensions = array<i64: 0, 1, 2>} : (tensor<8x16x16x4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = prim.broadcast %[[SUM]] {dimensions = array<i64: 3>} : (tensor<4xf32>) -> tensor<8x16x16x4xf32>
// CHECK-NEXT: %[[D:.*]] = prim.sub %[[Y]], %[[B]] : (tensor<8x16x16x4xf32>, tensor<8x16x16x4xf32>) -> tensor<8x16x16x4xf32>
// CHECK-NEXT: %[[Z:.*]] = prim.convolution %[[D]], %arg2 {channels_last = true
// CHECK-NEXT: %[[R:.*]] = prim.transpose %[[Z]] {permutation = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT: return %[[R]]
func.func @between(%x: tensor<8x3x16x16xf32>, %w: tensor<4x3x3x3xf32>, %v: tensor<4x4x3x3xf32>) -> tensor<8x4x16x16xf32> {
  %0 = prim.convolution %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<8x3x16x16xf32>, tensor<4x3x3x3xf32>) -> tensor<8x4x16x16xf32>
  %1 = prim.reduce sum %0 {dimensions = array<i64: 0, 2, 3>} : (tensor<8x4x16x16xf32>) -> tensor<4xf32>
  %2 = prim.broadcast %1 {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4x16x16xf32>
  %3 = prim.sub %0, %2 : (tensor<8x4x16x16xf32>, tensor<8x4x16x16xf32>) -> tensor<8x4x16x16xf32>
  %4 = prim.convolution %3, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<8x4x16x16xf32>, tensor<4x4x3x3xf32>) -> tensor<8x4x16x16xf32>
  return %4 : tensor<8x4x16x16xf32>
}

// All kinds of convolution, and what pools, pads and slices; nothing but the argument is transposed.
// CHECK-LABEL: @backward
// CHECK: prim.transpose %arg0
// CHECK-NOT: prim.transpose
// CHECK: prim.convolution {{.*}}channels_last = true
// CHECK: prim.reduce_window max {{.*}} pad_low = array<i64: 0, 1, 1, 0>, strides = array<i64: 1, 2, 2, 1>, window = array<i64: 1, 3, 3, 1>
// CHECK: prim.pad {{.*}}high = array<i64: 0, 1, 2, 0>
// CHECK: prim.slice {{.*}}limits = array<i64: 16, 5, 6, 8>
// CHECK: prim.arg_window {{.*}}window = array<i64: 1, 3, 3, 1>{{.*}} -> tensor<16x4x4x8xi8>
// CHECK: prim.window_scatter {{.*}}extents = array<i64: 16, 8, 8, 8>{{.*}}window = array<i64: 1, 3, 3, 1>
// CHECK: prim.convolution_backward_data {{.*}}channels_last = true{{.*}} -> tensor<16x8x8x4xf32>
// CHECK: prim.convolution_backward_weights {{.*}}channels_last = true{{.*}} -> tensor<8x4x3x3xf32>
// CHECK: prim.reduce sum {{.*}}dimensions = array<i64: 0, 1, 2>} : (tensor<16x8x8x4xf32>) -> tensor<4xf32>
// CHECK-NOT: prim.transpose
// CHECK: return
func.func @backward(%x: tensor<16x4x8x8xf32>, %w: tensor<8x4x3x3xf32>) -> (tensor<8x4x3x3xf32>, tensor<4xf32>) {
  %zero = prim.constant dense<0.0> : tensor<f32>
  %0 = prim.convolution %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<16x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<16x8x8x8xf32>
  %1 = prim.reduce_window max %0 {dilations = array<i64: 1, 1, 1, 1>, pad_high = array<i64: 0, 0, 1, 1>, pad_low = array<i64: 0, 0, 1, 1>, strides = array<i64: 1, 1, 2, 2>, window = array<i64: 1, 1, 3, 3>} : (tensor<16x8x8x8xf32>) -> tensor<16x8x4x4xf32>
  %2 = prim.pad %1, %zero {high = array<i64: 0, 0, 1, 2>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 0, 0>} : (tensor<16x8x4x4xf32>, tensor<f32>) -> tensor<16x8x5x6xf32>
  %3 = prim.slice %2 {limits = array<i64: 16, 8, 5, 6>, starts = array<i64: 0, 0, 1, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<16x8x5x6xf32>) -> tensor<16x8x4x4xf32>
  %n = prim.arg_window %0 {dilations = array<i64: 1, 1, 1, 1>, pad_high = array<i64: 0, 0, 1, 1>, pad_low = array<i64: 0, 0, 1, 1>, strides = array<i64: 1, 1, 2, 2>, window = array<i64: 1, 1, 3, 3>} : (tensor<16x8x8x8xf32>) -> tensor<16x8x4x4xi8>
  %4 = prim.window_scatter %n, %3 {extents = array<i64: 16, 8, 8, 8>, dilations = array<i64: 1, 1, 1, 1>, pad_high = array<i64: 0, 0, 1, 1>, pad_low = array<i64: 0, 0, 1, 1>, strides = array<i64: 1, 1, 2, 2>, window = array<i64: 1, 1, 3, 3>} : (tensor<16x8x4x4xi8>, tensor<16x8x4x4xf32>) -> tensor<16x8x8x8xf32>
  %5 = prim.convolution_backward_data %4, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<16x8x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<16x4x8x8xf32>
  %6 = prim.convolution_backward_weights %x, %4 {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<16x4x8x8xf32>, tensor<16x8x8x8xf32>) -> tensor<8x4x3x3xf32>
  %7 = prim.reduce sum %5 {dimensions = array<i64: 0, 2, 3>} : (tensor<16x4x8x8xf32>) -> tensor<4xf32>
  return %6, %7 : tensor<8x4x3x3xf32>, tensor<4xf32>
}

// One dimension and three, groups, a concatenation of channels, a reversed row.
// CHECK-LABEL: @other_ranks
// CHECK: prim.convolution {{.*}}channels_last = true{{.*}}groups = 2 : i64{{.*}} -> tensor<2x200x6xf32>
// CHECK: prim.concatenate {{.*}}{dimension = 2 : i64} : (tensor<2x200x6xf32>, tensor<2x200x6xf32>) -> tensor<2x200x12xf32>
// CHECK: prim.reverse {{.*}}{dimensions = array<i64: 1>}
// CHECK: prim.convolution {{.*}}channels_last = true{{.*}} -> tensor<2x200x3xf32>
// CHECK: prim.convolution {{.*}}channels_last = true{{.*}} -> tensor<1x8x8x8x2xf32>
func.func @other_ranks(%x: tensor<2x4x200xf32>, %w: tensor<6x2x3xf32>, %v: tensor<3x12x1xf32>, %y: tensor<1x2x8x8x8xf32>, %u: tensor<2x2x1x1x1xf32>) -> (tensor<2x3xf32>, tensor<2xf32>) {
  %0 = prim.convolution %x, %w {dilations = array<i64: 1>, groups = 2 : i64, pad_high = array<i64: 1>, pad_low = array<i64: 1>, strides = array<i64: 1>} : (tensor<2x4x200xf32>, tensor<6x2x3xf32>) -> tensor<2x6x200xf32>
  %1 = prim.exp %0 : (tensor<2x6x200xf32>) -> tensor<2x6x200xf32>
  %2 = prim.concatenate %0, %1 {dimension = 1 : i64} : (tensor<2x6x200xf32>, tensor<2x6x200xf32>) -> tensor<2x12x200xf32>
  %3 = prim.reverse %2 {dimensions = array<i64: 2>} : (tensor<2x12x200xf32>) -> tensor<2x12x200xf32>
  %4 = prim.convolution %3, %v {dilations = array<i64: 1>, groups = 1 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<2x12x200xf32>, tensor<3x12x1xf32>) -> tensor<2x3x200xf32>
  %5 = prim.reduce sum %4 {dimensions = array<i64: 2>} : (tensor<2x3x200xf32>) -> tensor<2x3xf32>
  %6 = prim.convolution %y, %u {dilations = array<i64: 1, 1, 1>, groups = 1 : i64, pad_high = array<i64: 0, 0, 0>, pad_low = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<1x2x8x8x8xf32>, tensor<2x2x1x1x1xf32>) -> tensor<1x2x8x8x8xf32>
  %7 = prim.reduce sum %6 {dimensions = array<i64: 0, 2, 3, 4>} : (tensor<1x2x8x8x8xf32>) -> tensor<2xf32>
  return %5, %7 : tensor<2x3xf32>, tensor<2xf32>
}

// Patches as rows of channels are what the convolution gives: no transpose is left behind it.
// CHECK-LABEL: @patches
// CHECK-NEXT: %[[X:.*]] = prim.transpose %arg0
// CHECK-NEXT: %[[Y:.*]] = prim.convolution %[[X]]
// CHECK-NEXT: %[[R:.*]] = prim.reshape %[[Y]] : (tensor<2x4x4x96xf32>) -> tensor<2x16x96xf32>
// CHECK-NEXT: return %[[R]]
func.func @patches(%x: tensor<2x3x16x16xf32>, %w: tensor<96x3x4x4xf32>) -> tensor<2x16x96xf32> {
  %0 = prim.convolution %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 4, 4>} : (tensor<2x3x16x16xf32>, tensor<96x3x4x4xf32>) -> tensor<2x96x4x4xf32>
  %1 = prim.reshape %0 : (tensor<2x96x4x4xf32>) -> tensor<2x96x16xf32>
  %2 = prim.transpose %1 {permutation = array<i64: 0, 2, 1>} : (tensor<2x96x16xf32>) -> tensor<2x16x96xf32>
  return %2 : tensor<2x16x96xf32>
}

// Random bits are those of their own order: what reads them is copied, once.
// CHECK-LABEL: @own_order
// CHECK: %[[BITS:.*]] = prim.random_bits {{.*}} -> tensor<2x8x16x16xui32>
// CHECK: prim.transpose
// CHECK: return
func.func @own_order(%x: tensor<2x8x16x16xf32>, %w: tensor<8x8x3x3xf32>, %key: tensor<2xi64>) -> tensor<8xf32> {
  %0 = prim.convolution %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x8x16x16xf32>, tensor<8x8x3x3xf32>) -> tensor<2x8x16x16xf32>
  %1 = prim.random_bits %key {stream = 3 : i64} : (tensor<2xi64>) -> tensor<2x8x16x16xui32>
  %2 = prim.convert %1 : (tensor<2x8x16x16xui32>) -> tensor<2x8x16x16xf32>
  %3 = prim.mul %0, %2 : (tensor<2x8x16x16xf32>, tensor<2x8x16x16xf32>) -> tensor<2x8x16x16xf32>
  %4 = prim.convolution %3, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x8x16x16xf32>, tensor<8x8x3x3xf32>) -> tensor<2x8x16x16xf32>
  %5 = prim.reduce sum %4 {dimensions = array<i64: 0, 2, 3>} : (tensor<2x8x16x16xf32>) -> tensor<8xf32>
  return %5 : tensor<8xf32>
}

// Without a convolution nothing changes.
// CHECK-LABEL: @none
// CHECK-NEXT: prim.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT: prim.exp
// CHECK-NEXT: return
func.func @none(%x: tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32> {
  %0 = prim.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = prim.exp %0 : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  return %1 : tensor<2x4x5x3xf32>
}

// oneDNN has no convolutions of f64: those stay channels first.
// CHECK-LABEL: @double
// CHECK-NEXT: prim.convolution %arg0, %arg1 {dilations
// CHECK-NEXT: return
func.func @double(%x: tensor<2x3x8x8xf64>, %w: tensor<4x3x3x3xf64>) -> tensor<2x4x6x6xf64> {
  %0 = prim.convolution %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<2x3x8x8xf64>, tensor<4x3x3x3xf64>) -> tensor<2x4x6x6xf64>
  return %0 : tensor<2x4x6x6xf64>
}
