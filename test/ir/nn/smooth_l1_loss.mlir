// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @mean
// CHECK: nn.smooth_l1_loss %arg0, %arg1 {beta = 1.000000e+00 : f64, reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
// DECOMPOSE-LABEL: @mean
// DECOMPOSE: [[V0:%.+]] = prim.sub %arg0, %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.abs [[V0]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.constant dense<1.000000e+00> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.compare  lt [[V1]], [[V2]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.mul [[V1]], [[V1]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.constant dense<5.000000e-01> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.mul [[V4]], [[V5]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.sub [[V1]], [[V5]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.select [[V3]], [[V6]], [[V7]] : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.constant dense<6.000000e+00> : tensor<f32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.reduce  sum [[V8]] {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.div [[V10]], [[V9]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
// DECOMPOSE-NEXT: return [[V11]] : tensor<f32>
func.func @mean(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<f32> {
  %r = nn.smooth_l1_loss %a, %b {beta = 1.0, reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}
