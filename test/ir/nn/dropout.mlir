// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @half
// CHECK: nn.dropout %arg0, %arg1 {ratio = 5.000000e-01 : f64, stream = 3 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @half
// DECOMPOSE: [[V0:%.+]] = prim.random_bits %arg1 {stream = 3 : i64} : (tensor<2xi64>) -> tensor<4xui32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<8> : tensor<4xui32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.shift_right [[V0]], [[V1]] : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.convert [[V2]] : (tensor<4xui32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.constant dense<5.96046448E-8> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.mul [[V3]], [[V4]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.constant dense<5.000000e-01> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.compare  ge [[V5]], [[V6]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.constant dense<2.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.mul %arg0, [[V8]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.constant dense<0.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.select [[V7]], [[V9]], [[V10]] : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: return [[V11]] : tensor<4xf32>
func.func @half(%a: tensor<4xf32>, %b: tensor<2xi64>) -> tensor<4xf32> {
  %r = nn.dropout %a, %b {ratio = 5.0e-01 : f64, stream = 3 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @nothing
// CHECK: nn.dropout %arg0, %arg1 {ratio = 0.000000e+00 : f64, stream = 3 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @nothing
// DECOMPOSE: return %arg0 : tensor<4xf32>
func.func @nothing(%a: tensor<4xf32>, %b: tensor<2xi64>) -> tensor<4xf32> {
  %r = nn.dropout %a, %b {ratio = 0.0 : f64, stream = 3 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @everything
// CHECK: nn.dropout %arg0, %arg1 {ratio = 1.000000e+00 : f64, stream = 3 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @everything
// DECOMPOSE: [[V0:%.+]] = prim.constant dense<0.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: return [[V0]] : tensor<4xf32>
func.func @everything(%a: tensor<4xf32>, %b: tensor<2xi64>) -> tensor<4xf32> {
  %r = nn.dropout %a, %b {ratio = 1.0 : f64, stream = 3 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
