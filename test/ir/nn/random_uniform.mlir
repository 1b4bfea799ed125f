// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.random_uniform %arg0 {high = 3.000000e+00 : f64, low = 1.000000e+00 : f64, stream = 3 : i64} : (tensor<2xi64>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.random_bits %arg0 {stream = 3 : i64} : (tensor<2xi64>) -> tensor<4xui32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<8> : tensor<4xui32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.shift_right [[V0]], [[V1]] : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.convert [[V2]] : (tensor<4xui32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.constant dense<5.96046448E-8> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.mul [[V3]], [[V4]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.constant dense<2.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.mul [[V5]], [[V6]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.constant dense<1.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.add [[V7]], [[V8]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: return [[V9]] : tensor<4xf32>
func.func @f(%a: tensor<2xi64>) -> tensor<4xf32> {
  %r = nn.random_uniform %a {high = 3.0, low = 1.0, stream = 3 : i64} : (tensor<2xi64>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
