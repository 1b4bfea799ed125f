// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.instance_norm %arg0, %arg1, %arg2 {epsilon = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.reduce  sum %arg0 {dimensions = array<i64: 2>} : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<2.500000e-01> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.mul [[V0]], [[V1]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.broadcast [[V2]] {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.sub %arg0, [[V3]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.mul [[V4]], [[V4]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.reduce  sum [[V5]] {dimensions = array<i64: 2>} : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.mul [[V6]], [[V1]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.constant dense<9.99999974E-6> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.add [[V7]], [[V8]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.rsqrt [[V9]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.broadcast [[V10]] {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.mul [[V4]], [[V11]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.broadcast %arg1 {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.mul [[V12]], [[V13]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.broadcast %arg2 {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.add [[V14]], [[V15]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: return [[V16]] : tensor<2x3x4xf32>
func.func @f(%a: tensor<2x3x4xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %r = nn.instance_norm %a, %b, %c {epsilon = 1.0e-05 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}
