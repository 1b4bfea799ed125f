// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.convolution_backward_weights %arg0, %arg1 {dilations = array<i64: 1, 2>, groups = 2 : i64, pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<2x4x5x5xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x2x2xf32>
func.func @case0(%a: tensor<2x4x5x5xf32>, %b: tensor<2x2x3x4xf32>) -> tensor<2x2x2x2xf32> {
  %r = prim.convolution_backward_weights %a, %b {dilations = array<i64: 1, 2>, groups = 2 : i64, pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<2x4x5x5xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x2x2xf32>
  return %r : tensor<2x2x2x2xf32>
}
