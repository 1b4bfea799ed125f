// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @two_segments
func.func @two_segments(%a: tensor<4xf32>, %b: tensor<2x3xf32>, %rate: tensor<f32>) -> (tensor<4xf32>, tensor<2x3xf32>) {
  // CHECK: prim.fusion_each "mul"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<2x3xf32>)
  %r:2 = prim.fusion_each "mul" (%a, %rate, %b, %rate) : (tensor<4xf32>, tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<2x3xf32>) {
  ^bb0(%x: tensor<1073741824xf32>, %s: tensor<f32>):
    %w = prim.broadcast %s {dimensions = array<i64>} : (tensor<f32>) -> tensor<1073741824xf32>
    %p = prim.mul %x, %w : (tensor<1073741824xf32>, tensor<1073741824xf32>) -> tensor<1073741824xf32>
    prim.yield %p : tensor<1073741824xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<2x3xf32>
}
