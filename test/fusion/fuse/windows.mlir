// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --form-fusions=target=cuda | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: accc-opt %s --form-fusions | FileCheck %s --check-prefixes=CHECK,CPU

// A GPU computes what the windows of a max-pooling read for each of them again: that takes less time than memory
// that would be written and read. A CPU's caches hold it. Where the maxima are is found beside the maxima.
// CHECK-LABEL: @pooled
// CPU: prim.fusion loop "mul_add_max"
// CPU: prim.fusion loop "reduce_window_arg_window"
// CUDA: prim.fusion loop "mul_add_max_reduce_window_arg_window"
// CHECK: prim.reduce_window max
// CHECK: prim.arg_window
// CHECK: prim.yield %{{.*}}, %{{.*}} : tensor<2x8x8x64xf32>, tensor<2x8x8x64xi8>
// CHECK-NOT: prim.fusion
func.func @pooled(%x: tensor<2x16x16x64xf32>, %scale: tensor<64xf32>, %bias: tensor<64xf32>) -> (tensor<2x8x8x64xf32>, tensor<2x8x8x64xi8>) {
  %s = prim.broadcast %scale {dimensions = array<i64: 3>} : (tensor<64xf32>) -> tensor<2x16x16x64xf32>
  %b = prim.broadcast %bias {dimensions = array<i64: 3>} : (tensor<64xf32>) -> tensor<2x16x16x64xf32>
  %0 = prim.mul %x, %s : (tensor<2x16x16x64xf32>, tensor<2x16x16x64xf32>) -> tensor<2x16x16x64xf32>
  %1 = prim.add %0, %b : (tensor<2x16x16x64xf32>, tensor<2x16x16x64xf32>) -> tensor<2x16x16x64xf32>
  %zero = prim.constant dense<0.0> : tensor<2x16x16x64xf32>
  %2 = prim.max %1, %zero : (tensor<2x16x16x64xf32>, tensor<2x16x16x64xf32>) -> tensor<2x16x16x64xf32>
  %3 = prim.reduce_window max %2 {window = array<i64: 1, 3, 3, 1>, strides = array<i64: 1, 2, 2, 1>, dilations = array<i64: 1, 1, 1, 1>, pad_low = array<i64: 0, 1, 1, 0>, pad_high = array<i64: 0, 1, 1, 0>} : (tensor<2x16x16x64xf32>) -> tensor<2x8x8x64xf32>
  %4 = prim.arg_window %2 {window = array<i64: 1, 3, 3, 1>, strides = array<i64: 1, 2, 2, 1>, dilations = array<i64: 1, 1, 1, 1>, pad_low = array<i64: 0, 1, 1, 0>, pad_high = array<i64: 0, 1, 1, 0>} : (tensor<2x16x16x64xf32>) -> tensor<2x8x8x64xi8>
  return %3, %4 : tensor<2x8x8x64xf32>, tensor<2x8x8x64xi8>
}

// A gradient's elements are computed where they are reduced.
// CHECK-LABEL: @gradient
// CHECK: prim.fusion reduce
// CHECK: prim.window_scatter
// CHECK: prim.reduce sum
// CHECK-NOT: prim.fusion
func.func @gradient(%n: tensor<2x64x8x8xi8>, %dy: tensor<2x64x8x8xf32>, %x: tensor<2x64x16x16xf32>) -> tensor<2x64xf32> {
  %0 = prim.window_scatter %n, %dy {extents = array<i64: 2, 64, 16, 16>, window = array<i64: 1, 1, 3, 3>, strides = array<i64: 1, 1, 2, 2>, dilations = array<i64: 1, 1, 1, 1>, pad_low = array<i64: 0, 0, 1, 1>, pad_high = array<i64: 0, 0, 1, 1>} : (tensor<2x64x8x8xi8>, tensor<2x64x8x8xf32>) -> tensor<2x64x16x16xf32>
  %1 = prim.mul %0, %x : (tensor<2x64x16x16xf32>, tensor<2x64x16x16xf32>) -> tensor<2x64x16x16xf32>
  %2 = prim.reduce sum %1 {dimensions = array<i64: 2, 3>} : (tensor<2x64x16x16xf32>) -> tensor<2x64xf32>
  return %2 : tensor<2x64xf32>
}

// Where the maxima are is a byte for each window, which a gradient does not look for again.
// CHECK-LABEL: @numbers
// CHECK: prim.fusion loop "arg_window"
// CHECK: prim.fusion loop "mul_window_scatter"
func.func @numbers(%x: tensor<2x16x16x64xf32>, %dy: tensor<2x8x8x64xf32>) -> tensor<2x16x16x64xf32> {
  %0 = prim.arg_window %x {window = array<i64: 1, 2, 2, 1>, strides = array<i64: 1, 2, 2, 1>, dilations = array<i64: 1, 1, 1, 1>, pad_low = array<i64: 0, 0, 0, 0>, pad_high = array<i64: 0, 0, 0, 0>} : (tensor<2x16x16x64xf32>) -> tensor<2x8x8x64xi8>
  %d = prim.mul %dy, %dy : (tensor<2x8x8x64xf32>, tensor<2x8x8x64xf32>) -> tensor<2x8x8x64xf32>
  %1 = prim.window_scatter %0, %d {extents = array<i64: 2, 16, 16, 64>, window = array<i64: 1, 2, 2, 1>, strides = array<i64: 1, 2, 2, 1>, dilations = array<i64: 1, 1, 1, 1>, pad_low = array<i64: 0, 0, 0, 0>, pad_high = array<i64: 0, 0, 0, 0>} : (tensor<2x8x8x64xi8>, tensor<2x8x8x64xf32>) -> tensor<2x16x16x64xf32>
  return %1 : tensor<2x16x16x64xf32>
}

// Columns of rows: what is between takes less time to write and read than 25 elements for each take to read, but not than nine.
// CHECK-LABEL: @columns_of_long_rows
// CHECK: prim.fusion loop "reduce_window"
// CHECK: prim.fusion
func.func @columns_of_long_rows(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = prim.reduce_window max %x {window = array<i64: 1, 5>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pad_low = array<i64: 0, 2>, pad_high = array<i64: 0, 2>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = prim.reduce_window max %0 {window = array<i64: 5, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pad_low = array<i64: 2, 0>, pad_high = array<i64: 2, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// CHECK-LABEL: @columns_of_short_rows
// CHECK: prim.fusion loop "reduce_window
// CHECK-NOT: prim.fusion
func.func @columns_of_short_rows(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = prim.reduce_window max %x {window = array<i64: 1, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pad_low = array<i64: 0, 1>, pad_high = array<i64: 0, 1>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = prim.reduce_window max %0 {window = array<i64: 3, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pad_low = array<i64: 1, 0>, pad_high = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
