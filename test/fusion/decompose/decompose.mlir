// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --decompose | FileCheck %s

// CHECK-LABEL: @relu
// CHECK-NOT: nn.
// CHECK: prim.max %arg0
// CHECK-NOT: nn.
func.func @relu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Composites of composites, to the end.
// CHECK-LABEL: @nested
// CHECK-NOT: nn.
// CHECK: prim.dot_general
// CHECK-NOT: nn.
// CHECK: return
func.func @nested(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = nn.linear %x, %w bias %b {transpose_w = true} : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = nn.gelu %0 {form = #nn<gelu_form erf>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = nn.softmax %1 {dimension = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}
