// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.nll_loss %arg0, %arg1 {reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<f32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.iota  {dimension = 1 : i64} : () -> tensor<2x3xi64>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.broadcast %arg1 {dimensions = array<i64: 0>} : (tensor<2xi64>) -> tensor<2x3xi64>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.compare  eq [[V0]], [[V1]] : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi1>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.constant dense<1.000000e+00> : tensor<3xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.gather [[V3]], %arg1 {axis = 0 : i64} : (tensor<3xf32>, tensor<2xi64>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.constant dense<2.000000e+00> : tensor<f32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.constant dense<0.000000e+00> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.select [[V2]], %arg0, [[V6]] : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.reduce  sum [[V7]] {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.neg [[V8]] : (tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.mul [[V4]], [[V9]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.reduce  sum [[V10]] {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.div [[V11]], [[V5]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
// DECOMPOSE-NEXT: return [[V12]] : tensor<f32>
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2xi64>) -> tensor<f32> {
  %r = nn.nll_loss %a, %b {reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: @ignoring
// CHECK: nn.nll_loss %arg0, %arg1 {ignore_index = -100 : i64, reduction = #nn<reduction none>} : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2xf32>
// DECOMPOSE-LABEL: @ignoring
// DECOMPOSE: [[V0:%.+]] = prim.iota  {dimension = 1 : i64} : () -> tensor<2x3xi32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.broadcast %arg1 {dimensions = array<i64: 0>} : (tensor<2xi32>) -> tensor<2x3xi32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.compare  eq [[V0]], [[V1]] : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.constant dense<-100> : tensor<2xi32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.compare  eq %arg1, [[V3]] : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.constant dense<1.000000e+00> : tensor<3xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.constant dense<0> : tensor<2xi32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.select [[V4]], [[V6]], %arg1 : (tensor<2xi1>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.gather [[V5]], [[V7]] {axis = 0 : i64} : (tensor<3xf32>, tensor<2xi32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.constant dense<0.000000e+00> : tensor<2xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.select [[V4]], [[V9]], [[V8]] : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.constant dense<0.000000e+00> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.select [[V2]], %arg0, [[V11]] : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.reduce  sum [[V12]] {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.neg [[V13]] : (tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.mul [[V10]], [[V14]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.select [[V4]], [[V9]], [[V15]] : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: return [[V16]] : tensor<2xf32>
func.func @ignoring(%a: tensor<2x3xf32>, %b: tensor<2xi32>) -> tensor<2xf32> {
  %r = nn.nll_loss %a, %b {ignore_index = -100 : i64, reduction = #nn<reduction none>} : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
