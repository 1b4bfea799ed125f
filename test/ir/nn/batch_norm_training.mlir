// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.batch_norm_training %arg0, %arg1, %arg2, %arg3, %arg4 {epsilon = 1.000000e-05 : f64, momentum = 1.000000e-01 : f64, unbiased = true} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.reduce  sum %arg0 {dimensions = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<1.250000e-01> : tensor<3xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.mul [[V0]], [[V1]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.broadcast [[V2]] {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.sub %arg0, [[V3]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.mul [[V4]], [[V4]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.reduce  sum [[V5]] {dimensions = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.mul [[V6]], [[V1]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.constant dense<9.99999974E-6> : tensor<3xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.add [[V7]], [[V8]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.rsqrt [[V9]] : (tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.mul [[V10]], %arg1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.broadcast [[V11]] {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.mul [[V4]], [[V12]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.broadcast %arg2 {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.add [[V13]], [[V14]] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.constant dense<0.899999976> : tensor<3xf32>
// DECOMPOSE-NEXT: [[V17:%.+]] = prim.mul %arg3, [[V16]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V18:%.+]] = prim.constant dense<1.000000e-01> : tensor<3xf32>
// DECOMPOSE-NEXT: [[V19:%.+]] = prim.mul [[V2]], [[V18]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V20:%.+]] = prim.add [[V17]], [[V19]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V21:%.+]] = prim.constant dense<1.14285719> : tensor<3xf32>
// DECOMPOSE-NEXT: [[V22:%.+]] = prim.mul [[V7]], [[V21]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V23:%.+]] = prim.mul %arg4, [[V16]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V24:%.+]] = prim.mul [[V22]], [[V18]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: [[V25:%.+]] = prim.add [[V23]], [[V24]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// DECOMPOSE-NEXT: return [[V15]], [[V20]], [[V25]] : tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>
func.func @f(%a: tensor<2x3x4xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>, %e: tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) {
  %r:3 = nn.batch_norm_training %a, %b, %c, %d, %e {epsilon = 1.0e-05 : f64, momentum = 1.0e-01 : f64, unbiased = true} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>
}

// The unbiased variance is that of all rows, of which there may be one.
// CHECK-LABEL: @synchronized
// CHECK: nn.batch_norm_training {{.*}} synchronized, unbiased = true}
// DECOMPOSE-LABEL: @synchronized
// DECOMPOSE: [[SUMS:%.+]]:2 = prim.all_reduce {{.*}} {sum} : (tensor<3xf32>, tensor<f32>)
// DECOMPOSE: [[VAR:%.+]] = prim.div {{.*}} : (tensor<3xf32>, tensor<3xf32>)
// DECOMPOSE: [[LESS:%.+]] = prim.sub [[SUMS]]#1, {{.*}} : (tensor<f32>, tensor<f32>)
// DECOMPOSE: [[AT_LEAST:%.+]] = prim.max [[LESS]], {{.*}} : (tensor<f32>, tensor<f32>)
// DECOMPOSE: prim.div [[SUMS]]#1, [[AT_LEAST]] : (tensor<f32>, tensor<f32>)
func.func @synchronized(%a: tensor<2x3x4xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>, %e: tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) {
  %r:3 = nn.batch_norm_training %a, %b, %c, %d, %e {epsilon = 1.0e-05 : f64, momentum = 1.0e-01 : f64, synchronized, unbiased = true} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>
}
