// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @mean
// CHECK: nn.bce %arg0, %arg1 {reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
// DECOMPOSE-LABEL: @mean
// DECOMPOSE: [[V0:%.+]] = prim.log %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<-1.000000e+02> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.max [[V0]], [[V1]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.mul %arg1, [[V2]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.constant dense<1.000000e+00> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.sub [[V4]], %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.neg %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.log1p [[V6]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.max [[V7]], [[V1]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.mul [[V5]], [[V8]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.add [[V3]], [[V9]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.neg [[V10]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.constant dense<6.000000e+00> : tensor<f32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.reduce  sum [[V11]] {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.div [[V13]], [[V12]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
// DECOMPOSE-NEXT: return [[V14]] : tensor<f32>
func.func @mean(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<f32> {
  %r = nn.bce %a, %b {reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}
