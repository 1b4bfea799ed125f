// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.pad %arg0, %arg1 {high = array<i64: 1, 2>, interior = array<i64: 0, 1>, low = array<i64: 1, -1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
func.func @case0(%a: tensor<2x3xf32>, %b: tensor<f32>) -> tensor<4x6xf32> {
  %r = prim.pad %a, %b {high = array<i64: 1, 2>, interior = array<i64: 0, 1>, low = array<i64: 1, -1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
