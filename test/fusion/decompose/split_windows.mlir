// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --split-windows | FileCheck %s

// Few elements stay one window.
// CHECK-LABEL: @small
// CHECK-NEXT: prim.reduce_window {{.*}}window = array<i64: 1, 8, 8>
// CHECK-NEXT: return
func.func @small(%x: tensor<2x8x9xf32>) -> tensor<2x1x2xf32> {
  %0 = prim.reduce_window sum %x {window = array<i64: 1, 8, 8>, strides = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, pad_low = array<i64: 0, 0, 0>, pad_high = array<i64: 0, 0, 0>} : (tensor<2x8x9xf32>) -> tensor<2x1x2xf32>
  return %0 : tensor<2x1x2xf32>
}

// Windows that share no element are blocks of one reduction.
// CHECK-LABEL: @blocks
// CHECK-NOT: reduce_window
// CHECK: prim.reshape {{.*}} -> tensor<2x2x9x3x11xf32>
// CHECK: prim.slice {{.*}} -> tensor<2x2x9x3x10xf32>
// CHECK: prim.reduce sum %{{.*}} {dimensions = array<i64: 2, 4>}
// CHECK-NEXT: return
func.func @blocks(%x: tensor<2x19x31xf32>) -> tensor<2x2x3xf32> {
  %0 = prim.reduce_window sum %x {window = array<i64: 1, 9, 10>, strides = array<i64: 1, 9, 11>, dilations = array<i64: 1, 1, 1>, pad_low = array<i64: 0, 0, 2>, pad_high = array<i64: 0, 0, 1>} : (tensor<2x19x31xf32>) -> tensor<2x2x3xf32>
  return %0 : tensor<2x2x3xf32>
}

// CHECK-LABEL: @one_position
// CHECK-NOT: reduce_window
// CHECK: prim.slice {{.*}}strides = array<i64: 2, 1>{{.*}} -> tensor<9x9xui8>
// CHECK: prim.reduce max
// CHECK-NEXT: return
func.func @one_position(%x: tensor<17x9xui8>) -> tensor<1x1xui8> {
  %0 = prim.reduce_window max %x {window = array<i64: 9, 8>, strides = array<i64: 3, 99>, dilations = array<i64: 2, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>} : (tensor<17x9xui8>) -> tensor<1x1xui8>
  return %0 : tensor<1x1xui8>
}

// One dimension after the other; what is between is not rounded.
// CHECK-LABEL: @overlapping
// CHECK: prim.convert {{.*}} -> tensor<20x21xf32>
// CHECK: prim.reduce_window sum {{.*}}window = array<i64: 1, 8>
// CHECK: prim.reduce_window sum {{.*}}window = array<i64: 9, 1>
// CHECK: prim.convert {{.*}} -> tensor<6x14xbf16>
func.func @overlapping(%x: tensor<20x21xbf16>) -> tensor<6x14xbf16> {
  %0 = prim.reduce_window sum %x {window = array<i64: 9, 8>, strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>, pad_low = array<i64: 0, 7>, pad_high = array<i64: 0, 0>} : (tensor<20x21xbf16>) -> tensor<6x14xbf16>
  return %0 : tensor<6x14xbf16>
}

// A window over the results of smaller ones, and what these leave.
// CHECK-LABEL: @long
// CHECK: prim.reduce_window min {{.*}}dilations = array<i64: 2>{{.*}}window = array<i64: 9>
// CHECK: prim.reduce_window min {{.*}}dilations = array<i64: 18>{{.*}}strides = array<i64: 3>{{.*}}window = array<i64: 7>
// CHECK: prim.reduce_window min {{.*}}dilations = array<i64: 2>{{.*}}strides = array<i64: 3>{{.*}}window = array<i64: 7>
// CHECK: prim.min
func.func @long(%x: tensor<200xi64>) -> tensor<25xi64> {
  %0 = prim.reduce_window min %x {window = array<i64: 70>, strides = array<i64: 3>, dilations = array<i64: 2>, pad_low = array<i64: 11>, pad_high = array<i64: 0>} : (tensor<200xi64>) -> tensor<25xi64>
  return %0 : tensor<25xi64>
}

// Three levels of windows.
// CHECK-LABEL: @longest
// CHECK-COUNT-4: prim.reduce_window sum
// CHECK-NOT: window = array<i64: {{[0-9][0-9][0-9]}}
func.func @longest(%x: tensor<5100xf32>) -> tensor<100xf32> {
  %0 = prim.reduce_window sum %x {window = array<i64: 5001>, strides = array<i64: 1>, dilations = array<i64: 1>, pad_low = array<i64: 0>, pad_high = array<i64: 0>} : (tensor<5100xf32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}

// The first greatest row has the first greatest element. Some windows lie in the padding altogether.
// CHECK-LABEL: @greatest
// CHECK: prim.arg_window {{.*}}window = array<i64: 1, 9>
// CHECK: prim.arg_window {{.*}}window = array<i64: 8, 1>
// CHECK: prim.gather
func.func @greatest(%x: tensor<9x10xf32>) -> tensor<9x25xi8> {
  %0 = prim.arg_window %x {window = array<i64: 8, 9>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pad_low = array<i64: 3, 14>, pad_high = array<i64: 4, 9>} : (tensor<9x10xf32>) -> tensor<9x25xi8>
  return %0 : tensor<9x25xi8>
}

// To the greatest of each row, then on to where the row has it.
// CHECK-LABEL: @scattered
// CHECK: %[[ROW:.*]] = prim.arg_window %arg0 {{.*}}window = array<i64: 1, 9>
// CHECK: %[[LEFT:.*]] = prim.reduce_window max %arg0 {{.*}}window = array<i64: 1, 9>
// CHECK: %[[COLUMN:.*]] = prim.arg_window %[[LEFT]] {{.*}}window = array<i64: 8, 1>
// CHECK: %[[ADDED:.*]] = prim.window_scatter %[[COLUMN]], %arg1 {{.*}} -> tensor<9x25xf32>
// CHECK: prim.window_scatter %[[ROW]], %[[ADDED]] {{.*}} -> tensor<9x10xf32>
// CHECK-NEXT: return
func.func @scattered(%x: tensor<9x10xf32>, %s: tensor<9x25xf32>) -> tensor<9x10xf32> {
  %n = prim.arg_window %x {window = array<i64: 8, 9>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pad_low = array<i64: 3, 14>, pad_high = array<i64: 4, 9>} : (tensor<9x10xf32>) -> tensor<9x25xi8>
  %0 = prim.window_scatter %n, %s {extents = array<i64: 9, 10>, window = array<i64: 8, 9>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pad_low = array<i64: 3, 14>, pad_high = array<i64: 4, 9>} : (tensor<9x25xi8>, tensor<9x25xf32>) -> tensor<9x10xf32>
  return %0 : tensor<9x10xf32>
}

// What is between is not rounded.
// CHECK-LABEL: @scattered_bf16
// CHECK: prim.convert %arg1 {{.*}} -> tensor<9x10xf32>
// CHECK: prim.window_scatter {{.*}} -> tensor<11x10xf32>
// CHECK: prim.window_scatter {{.*}} -> tensor<11x14xf32>
// CHECK: prim.convert {{.*}} -> tensor<11x14xbf16>
func.func @scattered_bf16(%x: tensor<11x14xbf16>, %s: tensor<9x10xbf16>) -> tensor<11x14xbf16> {
  %n = prim.arg_window %x {window = array<i64: 5, 5>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pad_low = array<i64: 1, 0>, pad_high = array<i64: 1, 0>} : (tensor<11x14xbf16>) -> tensor<9x10xi8>
  %0 = prim.window_scatter %n, %s {extents = array<i64: 11, 14>, window = array<i64: 5, 5>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pad_low = array<i64: 1, 0>, pad_high = array<i64: 1, 0>} : (tensor<9x10xi8>, tensor<9x10xbf16>) -> tensor<11x14xbf16>
  return %0 : tensor<11x14xbf16>
}

// Of numbers that are computed otherwise, and where code would name more than 64 windows, the elements' places are computed.
// CHECK-LABEL: @scattered_from_elsewhere
// CHECK-NOT: window_scatter
// CHECK: prim.scatter {{.*}}kind = #prim<scatter_kind add>
func.func @scattered_from_elsewhere(%x: tensor<9x10xf32>, %s: tensor<9x25xf32>) -> tensor<9x10xf32> {
  %m = prim.arg_window %x {window = array<i64: 8, 9>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pad_low = array<i64: 3, 14>, pad_high = array<i64: 4, 9>} : (tensor<9x10xf32>) -> tensor<9x25xi8>
  %n = prim.max %m, %m : (tensor<9x25xi8>, tensor<9x25xi8>) -> tensor<9x25xi8>
  %0 = prim.window_scatter %n, %s {extents = array<i64: 9, 10>, window = array<i64: 8, 9>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pad_low = array<i64: 3, 14>, pad_high = array<i64: 4, 9>} : (tensor<9x25xi8>, tensor<9x25xf32>) -> tensor<9x10xf32>
  return %0 : tensor<9x10xf32>
}

// CHECK-LABEL: @scattered_by_many
// CHECK-NOT: window_scatter
// CHECK: prim.scatter {{.*}}kind = #prim<scatter_kind add>
func.func @scattered_by_many(%x: tensor<300xf32>, %s: tensor<231xf32>) -> tensor<300xf32> {
  %n = prim.arg_window %x {window = array<i64: 70>, strides = array<i64: 1>, dilations = array<i64: 1>, pad_low = array<i64: 0>, pad_high = array<i64: 0>} : (tensor<300xf32>) -> tensor<231xi8>
  %0 = prim.window_scatter %n, %s {extents = array<i64: 300>, window = array<i64: 70>, strides = array<i64: 1>, dilations = array<i64: 1>, pad_low = array<i64: 0>, pad_high = array<i64: 0>} : (tensor<231xi8>, tensor<231xf32>) -> tensor<300xf32>
  return %0 : tensor<300xf32>
}

// What is between is not rounded here, either.
// CHECK-LABEL: @scattered_by_many_bf16
// CHECK: prim.scatter {{.*}}kind = #prim<scatter_kind add>{{.*}} -> tensor<300xf32>
// CHECK-NEXT: prim.convert {{.*}} -> tensor<300xbf16>
func.func @scattered_by_many_bf16(%n: tensor<231xi8>, %s: tensor<231xbf16>) -> tensor<300xbf16> {
  %0 = prim.window_scatter %n, %s {extents = array<i64: 300>, window = array<i64: 70>, strides = array<i64: 1>, dilations = array<i64: 1>, pad_low = array<i64: 0>, pad_high = array<i64: 0>} : (tensor<231xi8>, tensor<231xbf16>) -> tensor<300xbf16>
  return %0 : tensor<300xbf16>
}

// An element of one window is in no other, whatever the stride.
// CHECK-LABEL: @scattered_by_one
// CHECK: prim.window_scatter {{.*}}window = array<i64: 90>
// CHECK-NEXT: return
func.func @scattered_by_one(%x: tensor<90xf32>, %s: tensor<1xf32>) -> tensor<90xf32> {
  %n = prim.arg_window %x {window = array<i64: 90>, strides = array<i64: 1>, dilations = array<i64: 1>, pad_low = array<i64: 0>, pad_high = array<i64: 0>} : (tensor<90xf32>) -> tensor<1xi8>
  %0 = prim.window_scatter %n, %s {extents = array<i64: 90>, window = array<i64: 90>, strides = array<i64: 1>, dilations = array<i64: 1>, pad_low = array<i64: 0>, pad_high = array<i64: 0>} : (tensor<1xi8>, tensor<1xf32>) -> tensor<90xf32>
  return %0 : tensor<90xf32>
}

// Smaller windows that overlap much, and some that overlap less: each element is in 25, in 9 of them.
// CHECK-LABEL: @overlapping_much
// CHECK-DAG: prim.reduce_window max {{.*}}window = array<i64: 1, 5>
// CHECK-DAG: prim.reduce_window max {{.*}}window = array<i64: 5, 1>
// CHECK-DAG: prim.reduce_window max {{.*}}strides = array<i64: 2, 2>, window = array<i64: 5, 5>
func.func @overlapping_much(%x: tensor<12x14xf32>) -> (tensor<12x14xf32>, tensor<6x7xf32>) {
  %0 = prim.reduce_window max %x {window = array<i64: 5, 5>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pad_low = array<i64: 2, 2>, pad_high = array<i64: 2, 2>} : (tensor<12x14xf32>) -> tensor<12x14xf32>
  %1 = prim.reduce_window max %x {window = array<i64: 5, 5>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pad_low = array<i64: 2, 2>, pad_high = array<i64: 2, 2>} : (tensor<12x14xf32>) -> tensor<6x7xf32>
  return %0, %1 : tensor<12x14xf32>, tensor<6x7xf32>
}

// Large windows that share no element are blocks, of which each is searched; what is outside does not count.
// CHECK-LABEL: @greatest_of_blocks
// CHECK: prim.pad {{.*}} -> tensor<3x270xf32>
// CHECK: prim.reshape {{.*}} -> tensor<3x3x90xf32>
// CHECK: prim.slice {{.*}} -> tensor<3x3x70xf32>
// CHECK: prim.arg_reduce max {{.*}}{dimension = 2 : i64}
// CHECK-NOT: arg_window
func.func @greatest_of_blocks(%x: tensor<3x245xf32>) -> tensor<3x3xi8> {
  %0 = prim.arg_window %x {window = array<i64: 1, 70>, strides = array<i64: 1, 90>, dilations = array<i64: 1, 1>, pad_low = array<i64: 0, 5>, pad_high = array<i64: 0, 5>} : (tensor<3x245xf32>) -> tensor<3x3xi8>
  return %0 : tensor<3x3xi8>
}

// Overlapping ones: of 2, 4, ..., 64 elements, then of two of these.
// CHECK-LABEL: @greatest_of_many
// CHECK-COUNT-8: prim.compare gt
// CHECK: prim.slice {{.*}}strides = array<i64: 2>
// CHECK: return {{.*}} tensor<66xi32>
func.func @greatest_of_many(%x: tensor<300xi32>) -> tensor<66xi32> {
  %0 = prim.arg_window %x {window = array<i64: 170>, strides = array<i64: 2>, dilations = array<i64: 1>, pad_low = array<i64: 0>, pad_high = array<i64: 0>} : (tensor<300xi32>) -> tensor<66xi32>
  return %0 : tensor<66xi32>
}
