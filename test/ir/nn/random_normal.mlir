// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.random_normal %arg0 {mean = 1.000000e+00 : f64, scale = 2.000000e+00 : f64, stream = 3 : i64} : (tensor<2xi64>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.random_bits %arg0 {stream = 3 : i64} : (tensor<2xi64>) -> tensor<2x4xui32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<8> : tensor<2x4xui32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.shift_right [[V0]], [[V1]] : (tensor<2x4xui32>, tensor<2x4xui32>) -> tensor<2x4xui32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.convert [[V2]] : (tensor<2x4xui32>) -> tensor<2x4xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.constant dense<5.96046448E-8> : tensor<2x4xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.mul [[V3]], [[V4]] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.slice [[V5]] {limits = array<i64: 1, 4>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<2x4xf32>) -> tensor<1x4xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.reshape [[V6]] : (tensor<1x4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.slice [[V5]] {limits = array<i64: 2, 4>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : (tensor<2x4xf32>) -> tensor<1x4xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.reshape [[V8]] : (tensor<1x4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.neg [[V7]] : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.log1p [[V10]] : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.constant dense<-2.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.mul [[V11]], [[V12]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.sqrt [[V13]] : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.constant dense<6.28318548> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.mul [[V9]], [[V15]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V17:%.+]] = prim.cos [[V16]] : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V18:%.+]] = prim.mul [[V14]], [[V17]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V19:%.+]] = prim.constant dense<2.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V20:%.+]] = prim.mul [[V18]], [[V19]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V21:%.+]] = prim.constant dense<1.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V22:%.+]] = prim.add [[V20]], [[V21]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: return [[V22]] : tensor<4xf32>
func.func @f(%a: tensor<2xi64>) -> tensor<4xf32> {
  %r = nn.random_normal %a {mean = 1.0, scale = 2.0, stream = 3 : i64} : (tensor<2xi64>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
