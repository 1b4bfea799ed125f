// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.log_softmax %arg0 {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-LABEL: @f
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
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.log [[V11]] : (tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.broadcast [[V12]] {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.sub [[V6]], [[V13]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: return [[V14]] : tensor<2x3xf32>
func.func @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.log_softmax %a {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @half
// CHECK: nn.log_softmax %arg0 {dimension = 1 : i64} : (tensor<2x3xf16>) -> tensor<2x3xf16>
// DECOMPOSE-LABEL: @half
// DECOMPOSE: [[V0:%.+]] = prim.convert %arg0 : (tensor<2x3xf16>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.reduce  max [[V0]] {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.constant dense<0xFF800000> : tensor<2xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.compare  eq [[V1]], [[V2]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.constant dense<0.000000e+00> : tensor<2xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.select [[V3]], [[V4]], [[V1]] : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.broadcast [[V5]] {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.sub [[V0]], [[V6]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.exp [[V7]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.reduce  sum [[V8]] {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.compare  eq [[V9]], [[V4]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.constant dense<1.000000e+00> : tensor<2xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.select [[V10]], [[V11]], [[V9]] : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.log [[V12]] : (tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.broadcast [[V13]] {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.sub [[V7]], [[V14]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.convert [[V15]] : (tensor<2x3xf32>) -> tensor<2x3xf16>
// DECOMPOSE-NEXT: return [[V16]] : tensor<2x3xf16>
func.func @half(%a: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %r = nn.log_softmax %a {dimension = 1 : i64} : (tensor<2x3xf16>) -> tensor<2x3xf16>
  return %r : tensor<2x3xf16>
}
