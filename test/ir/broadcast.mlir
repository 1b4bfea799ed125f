// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.broadcast %arg0 {dimensions = array<i64: 1, 2>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
func.func @case0(%a: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  %r = prim.broadcast %a {dimensions = array<i64: 1, 2>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// CHECK-LABEL: @case1
// CHECK: prim.broadcast %arg0 {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x3xf32>
func.func @case1(%a: tensor<f32>) -> tensor<2x3xf32> {
  %r = prim.broadcast %a {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
