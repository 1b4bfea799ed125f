// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --lay-out-variables="target=cuda arch=compute_80 tf32" | FileCheck %s

// A depthwise filter and one of one pixel are the same memory either way, and f64 knows no TF32.
// CHECK-NOT: accc.order
func.func @eval_step(
    %w: tensor<4x1x3x3xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
    %v: tensor<6x4x1x1xf32> {accc.name = "v", accc.role = #prim.role<parameter>},
    %u: tensor<2x6x3x3xf64> {accc.name = "u", accc.role = #prim.role<parameter>},
    %x: tensor<2x4x8x8xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<2x2x6x6xf64> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.convolution %x, %w {dilations = array<i64: 1, 1>, groups = 4 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<2x4x8x8xf32>
  %1 = prim.convolution %0, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<2x4x8x8xf32>, tensor<6x4x1x1xf32>) -> tensor<2x6x8x8xf32>
  %2 = prim.convert %1 : (tensor<2x6x8x8xf32>) -> tensor<2x6x8x8xf64>
  %3 = prim.convolution %2, %u {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<2x6x8x8xf64>, tensor<2x6x3x3xf64>) -> tensor<2x2x6x6xf64>
  return %3 : tensor<2x2x6x6xf64>
}
