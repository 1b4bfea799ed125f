// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.group_norm %arg0, %arg1, %arg2 {epsilon = 1.000000e-05 : f64, groups = 2 : i64} : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.reshape %arg0 : (tensor<2x4x3xf32>) -> tensor<2x2x2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.reduce  sum [[V0]] {dimensions = array<i64: 2, 3>} : (tensor<2x2x2x3xf32>) -> tensor<2x2xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.constant dense<0.166666672> : tensor<2x2xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.mul [[V1]], [[V2]] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.broadcast [[V3]] {dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x2x2x3xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.sub [[V0]], [[V4]] : (tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.mul [[V5]], [[V5]] : (tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.reduce  sum [[V6]] {dimensions = array<i64: 2, 3>} : (tensor<2x2x2x3xf32>) -> tensor<2x2xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.mul [[V7]], [[V2]] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.constant dense<9.99999974E-6> : tensor<2x2xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.add [[V8]], [[V9]] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.rsqrt [[V10]] : (tensor<2x2xf32>) -> tensor<2x2xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.broadcast [[V11]] {dimensions = array<i64: 0, 1>} : (tensor<2x2xf32>) -> tensor<2x2x2x3xf32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.mul [[V5]], [[V12]] : (tensor<2x2x2x3xf32>, tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.reshape [[V13]] : (tensor<2x2x2x3xf32>) -> tensor<2x4x3xf32>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.broadcast %arg1 {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<2x4x3xf32>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.mul [[V14]], [[V15]] : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
// DECOMPOSE-NEXT: [[V17:%.+]] = prim.broadcast %arg2 {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<2x4x3xf32>
// DECOMPOSE-NEXT: [[V18:%.+]] = prim.add [[V16]], [[V17]] : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
// DECOMPOSE-NEXT: return [[V18]] : tensor<2x4x3xf32>
func.func @f(%a: tensor<2x4x3xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<2x4x3xf32> {
  %r = nn.group_norm %a, %b, %c {epsilon = 1.0e-05 : f64, groups = 2 : i64} : (tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3xf32>
  return %r : tensor<2x4x3xf32>
}
