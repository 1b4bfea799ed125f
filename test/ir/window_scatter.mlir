// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.window_scatter %arg0, %arg1 {dilations = array<i64: 1, 2>, extents = array<i64: 2, 5>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 1>, strides = array<i64: 1, 1>, window = array<i64: 1, 2>} : (tensor<2x4xi8>, tensor<2x4xf32>) -> tensor<2x5xf32>
func.func @case0(%a: tensor<2x4xi8>, %b: tensor<2x4xf32>) -> tensor<2x5xf32> {
  %r = prim.window_scatter %a, %b {dilations = array<i64: 1, 2>, extents = array<i64: 2, 5>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 1>, strides = array<i64: 1, 1>, window = array<i64: 1, 2>} : (tensor<2x4xi8>, tensor<2x4xf32>) -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}
