// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.batch_norm_inference %arg0, %arg1, %arg2, %arg3, %arg4 {epsilon = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.constant dense<9.99999974E-6> : tensor<3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.add %arg4, [[V0]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.rsqrt [[V1]] : (tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.mul %arg1, [[V2]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.broadcast %arg3 {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.sub %arg0, [[V4]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.broadcast [[V3]] {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.mul [[V5]], [[V6]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.broadcast %arg2 {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.add [[V7]], [[V8]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: return [[V9]] : tensor<2x3x4xf32>
func.func @f(%a: tensor<2x3x4xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>, %e: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %r = nn.batch_norm_inference %a, %b, %c, %d, %e {epsilon = 1.0e-05 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}
