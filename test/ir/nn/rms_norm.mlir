// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @bare
// CHECK: nn.rms_norm %arg0 {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-LABEL: @bare
// DECOMPOSE: [[V0:%.+]] = prim.mul %arg0, %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.reduce  sum [[V0]] {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.constant dense<0.333333343> : tensor<2xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.mul [[V1]], [[V2]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.constant dense<9.99999974E-6> : tensor<2xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.add [[V3]], [[V4]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.rsqrt [[V5]] : (tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.broadcast [[V6]] {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.mul %arg0, [[V7]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: return [[V8]] : tensor<2x3xf32>
func.func @bare(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.rms_norm %a {axis = 1 : i64, epsilon = 1.0e-05 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @scale
// CHECK: nn.rms_norm %arg0 scale %arg1 {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-LABEL: @scale
// DECOMPOSE: [[V0:%.+]] = prim.mul %arg0, %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.reduce  sum [[V0]] {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.constant dense<0.333333343> : tensor<2xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.mul [[V1]], [[V2]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.constant dense<9.99999974E-6> : tensor<2xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.add [[V3]], [[V4]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.rsqrt [[V5]] : (tensor<2xf32>) -> tensor<2xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.broadcast [[V6]] {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.mul %arg0, [[V7]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.broadcast %arg1 {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.mul [[V8]], [[V9]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: return [[V10]] : tensor<2x3xf32>
func.func @scale(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %r = nn.rms_norm %a scale %b {axis = 1 : i64, epsilon = 1.0e-05 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
