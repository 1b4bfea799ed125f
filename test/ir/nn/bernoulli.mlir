// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.bernoulli %arg0, %arg1 {stream = 3 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xi1>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.random_bits %arg1 {stream = 3 : i64} : (tensor<2xi64>) -> tensor<4xui32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<8> : tensor<4xui32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.shift_right [[V0]], [[V1]] : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.convert [[V2]] : (tensor<4xui32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.constant dense<5.96046448E-8> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.mul [[V3]], [[V4]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.compare  lt [[V5]], %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// DECOMPOSE-NEXT: return [[V6]] : tensor<4xi1>
func.func @f(%a: tensor<4xf32>, %b: tensor<2xi64>) -> tensor<4xi1> {
  %r = nn.bernoulli %a, %b {stream = 3 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xi1>
  return %r : tensor<4xi1>
}
