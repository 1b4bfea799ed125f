// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @plain
// CHECK: nn.cross_entropy %arg0, %arg1 {label_smoothing = 0.000000e+00 : f64, reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<f32>
// DECOMPOSE-LABEL: @plain
// DECOMPOSE: [[V0:%.+]] = prim.reduce  max %arg0 {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<0xFF800000> : tensor<2xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.compare  eq [[V0]], [[V1]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.constant dense<0.000000e+00> : tensor<2xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.select [[V2]], [[V3]], [[V0]] : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.broadcast [[V4]] {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.sub %arg0, [[V5]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.exp [[V6]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.reduce  sum [[V7]] {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.compare  eq [[V8]], [[V3]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.constant dense<1.000000e+00> : tensor<2xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.select [[V9]], [[V10]], [[V8]] : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.iota  {dimension = 1 : i64} : () -> tensor<2x3xi64>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.broadcast %arg1 {dimensions = array<i64: 0>} : (tensor<2xi64>) -> tensor<2x3xi64>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.compare  eq [[V12]], [[V13]] : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi1>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.constant dense<1.000000e+00> : tensor<3xf32>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.gather [[V15]], %arg1 {axis = 0 : i64} : (tensor<3xf32>, tensor<2xi64>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V17:%.+]] = prim.constant dense<2.000000e+00> : tensor<f32>
// DECOMPOSE-NEXT: [[V18:%.+]] = prim.log [[V11]] : (tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V19:%.+]] = prim.constant dense<0.000000e+00> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V20:%.+]] = prim.select [[V14]], %arg0, [[V19]] : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V21:%.+]] = prim.reduce  sum [[V20]] {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V22:%.+]] = prim.sub [[V21]], [[V4]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V23:%.+]] = prim.sub [[V18]], [[V22]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V24:%.+]] = prim.mul [[V16]], [[V23]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V25:%.+]] = prim.reduce  sum [[V24]] {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
// DECOMPOSE-NEXT: [[V26:%.+]] = prim.div [[V25]], [[V17]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
// DECOMPOSE-NEXT: return [[V26]] : tensor<f32>
func.func @plain(%a: tensor<2x3xf32>, %b: tensor<2xi64>) -> tensor<f32> {
  %r = nn.cross_entropy %a, %b {label_smoothing = 0.0, reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: @ignoring
// CHECK: nn.cross_entropy %arg0, %arg1 weight %arg2 {ignore_index = -100 : i64, label_smoothing = 0.000000e+00 : f64, reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2xi64>, tensor<3xf32>) -> tensor<f32>
// DECOMPOSE-LABEL: @ignoring
// DECOMPOSE: [[V0:%.+]] = prim.reduce  max %arg0 {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<0xFF800000> : tensor<2xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.compare  eq [[V0]], [[V1]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.constant dense<0.000000e+00> : tensor<2xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.select [[V2]], [[V3]], [[V0]] : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.broadcast [[V4]] {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.sub %arg0, [[V5]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.exp [[V6]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.reduce  sum [[V7]] {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.compare  eq [[V8]], [[V3]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.constant dense<1.000000e+00> : tensor<2xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.select [[V9]], [[V10]], [[V8]] : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.iota  {dimension = 1 : i64} : () -> tensor<2x3xi64>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.broadcast %arg1 {dimensions = array<i64: 0>} : (tensor<2xi64>) -> tensor<2x3xi64>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.compare  eq [[V12]], [[V13]] : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi1>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.constant dense<-100> : tensor<2xi64>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.compare  eq %arg1, [[V15]] : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
// DECOMPOSE-NEXT: [[V17:%.+]] = prim.constant dense<0> : tensor<2xi64>
// DECOMPOSE-NEXT: [[V18:%.+]] = prim.select [[V16]], [[V17]], %arg1 : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
// DECOMPOSE-NEXT: [[V19:%.+]] = prim.gather %arg2, [[V18]] {axis = 0 : i64} : (tensor<3xf32>, tensor<2xi64>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V20:%.+]] = prim.select [[V16]], [[V3]], [[V19]] : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V21:%.+]] = prim.reduce  sum [[V20]] {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
// DECOMPOSE-NEXT: [[V22:%.+]] = prim.log [[V11]] : (tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V23:%.+]] = prim.constant dense<0.000000e+00> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V24:%.+]] = prim.select [[V14]], %arg0, [[V23]] : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V25:%.+]] = prim.reduce  sum [[V24]] {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V26:%.+]] = prim.sub [[V25]], [[V4]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V27:%.+]] = prim.sub [[V22]], [[V26]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V28:%.+]] = prim.mul [[V20]], [[V27]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V29:%.+]] = prim.select [[V16]], [[V3]], [[V28]] : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V30:%.+]] = prim.reduce  sum [[V29]] {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
// DECOMPOSE-NEXT: [[V31:%.+]] = prim.div [[V30]], [[V21]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
// DECOMPOSE-NEXT: return [[V31]] : tensor<f32>
func.func @ignoring(%a: tensor<2x3xf32>, %b: tensor<2xi64>, %c: tensor<3xf32>) -> tensor<f32> {
  %r = nn.cross_entropy %a, %b weight %c {ignore_index = -100 : i64, label_smoothing = 0.0, reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2xi64>, tensor<3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: @probabilities
// CHECK: nn.cross_entropy %arg0, %arg1 {label_smoothing = 0.000000e+00 : f64, reduction = #nn<reduction none>} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x4xf32>
// DECOMPOSE-LABEL: @probabilities
// DECOMPOSE: [[V0:%.+]] = prim.reduce  max %arg0 {dimensions = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<0xFF800000> : tensor<2x4xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.compare  eq [[V0]], [[V1]] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.constant dense<0.000000e+00> : tensor<2x4xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.select [[V2]], [[V3]], [[V0]] : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.broadcast [[V4]] {dimensions = array<i64: 0, 2>} : (tensor<2x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.sub %arg0, [[V5]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.exp [[V6]] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.reduce  sum [[V7]] {dimensions = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.compare  eq [[V8]], [[V3]] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.constant dense<1.000000e+00> : tensor<2x4xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.select [[V9]], [[V10]], [[V8]] : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.log [[V11]] : (tensor<2x4xf32>) -> tensor<2x4xf32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.broadcast [[V12]] {dimensions = array<i64: 0, 2>} : (tensor<2x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.sub [[V13]], [[V6]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.mul %arg1, [[V14]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.reduce  sum [[V15]] {dimensions = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
// DECOMPOSE-NEXT: return [[V16]] : tensor<2x4xf32>
func.func @probabilities(%a: tensor<2x3x4xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x4xf32> {
  %r = nn.cross_entropy %a, %b {label_smoothing = 0.0, reduction = #nn<reduction none>} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
