// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.convolution %arg0, %arg1 {dilations = array<i64: 1, 2>, groups = 2 : i64, pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<2x4x5x5xf32>, tensor<2x2x2x2xf32>) -> tensor<2x2x3x4xf32>
func.func @case0(%a: tensor<2x4x5x5xf32>, %b: tensor<2x2x2x2xf32>) -> tensor<2x2x3x4xf32> {
  %r = prim.convolution %a, %b {dilations = array<i64: 1, 2>, groups = 2 : i64, pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<2x4x5x5xf32>, tensor<2x2x2x2xf32>) -> tensor<2x2x3x4xf32>
  return %r : tensor<2x2x3x4xf32>
}

// CHECK-LABEL: @case1
// CHECK: prim.convolution %arg0, %arg1 {channels_last = true, dilations = array<i64: 1, 2>, groups = 2 : i64, pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<1x5x5x4xf32>, tensor<2x2x2x2xf32>) -> tensor<1x3x4x2xf32>
func.func @case1(%a: tensor<1x5x5x4xf32>, %b: tensor<2x2x2x2xf32>) -> tensor<1x3x4x2xf32> {
  %r = prim.convolution %a, %b {channels_last = true, dilations = array<i64: 1, 2>, groups = 2 : i64, pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<1x5x5x4xf32>, tensor<2x2x2x2xf32>) -> tensor<1x3x4x2xf32>
  return %r : tensor<1x3x4x2xf32>
}

// CHECK-LABEL: @filter_last
// CHECK: prim.convolution %arg0, %arg1 {channels_last = true, dilations = array<i64: 1, 2>, filter_channels_last = true, groups = 2 : i64, {{.*}}} : (tensor<1x5x6x6xf32>, tensor<2x2x1x3xf32>) -> tensor<1x3x7x2xf32>
func.func @filter_last(%a: tensor<1x5x6x6xf32>, %b: tensor<2x2x1x3xf32>) -> tensor<1x3x7x2xf32> {
  %r = prim.convolution %a, %b {channels_last = true, dilations = array<i64: 1, 2>, filter_channels_last = true, groups = 2 : i64, pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<1x5x6x6xf32>, tensor<2x2x1x3xf32>) -> tensor<1x3x7x2xf32>
  return %r : tensor<1x3x7x2xf32>
}
