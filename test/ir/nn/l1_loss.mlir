// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @mean
// CHECK: nn.l1_loss %arg0, %arg1 {reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
// DECOMPOSE-LABEL: @mean
// DECOMPOSE: [[V0:%.+]] = prim.sub %arg0, %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.abs [[V0]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.constant dense<6.000000e+00> : tensor<f32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.reduce  sum [[V1]] {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.div [[V3]], [[V2]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
// DECOMPOSE-NEXT: return [[V4]] : tensor<f32>
func.func @mean(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<f32> {
  %r = nn.l1_loss %a, %b {reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}
