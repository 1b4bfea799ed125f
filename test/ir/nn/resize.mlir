// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @repeats
// CHECK: nn.resize %arg0 {coordinates = #nn<resize_coordinates asymmetric>, mode = #nn<resize_mode nearest>, nearest = #nn<resize_nearest floor>, scales = array<f64: 1.000000e+00, 2.000000e+00>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
// DECOMPOSE-LABEL: @repeats
// DECOMPOSE: [[V0:%.+]] = prim.broadcast %arg0 {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3x2xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.reshape [[V0]] : (tensor<2x3x2xf32>) -> tensor<2x6xf32>
// DECOMPOSE-NEXT: return [[V1]] : tensor<2x6xf32>
func.func @repeats(%a: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %r = nn.resize %a {coordinates = #nn<resize_coordinates asymmetric>, mode = #nn<resize_mode nearest>, nearest = #nn<resize_nearest floor>, scales = array<f64: 1.0e+00, 2.0e+00>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// CHECK-LABEL: @linear
// CHECK: nn.resize %arg0 {coordinates = #nn<resize_coordinates half_pixel>, mode = #nn<resize_mode linear>, nearest = #nn<resize_nearest floor>, scales = array<f64: 1.000000e+00, 2.000000e+00>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
// DECOMPOSE-LABEL: @linear
// DECOMPOSE: [[V0:%.+]] = prim.constant dense<[0, 0, 0, 1, 1, 2]> : tensor<6xi64>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.gather %arg0, [[V0]] {axis = 1 : i64} : (tensor<2x3xf32>, tensor<6xi64>) -> tensor<2x6xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.constant dense<[2.500000e-01, 7.500000e-01, 2.500000e-01, 7.500000e-01, 2.500000e-01, 7.500000e-01]> : tensor<6xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.broadcast [[V2]] {dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<2x6xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.mul [[V1]], [[V3]] : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.constant dense<[0, 1, 1, 2, 2, 2]> : tensor<6xi64>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.gather %arg0, [[V5]] {axis = 1 : i64} : (tensor<2x3xf32>, tensor<6xi64>) -> tensor<2x6xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.constant dense<[7.500000e-01, 2.500000e-01, 7.500000e-01, 2.500000e-01, 7.500000e-01, 2.500000e-01]> : tensor<6xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.broadcast [[V7]] {dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<2x6xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.mul [[V6]], [[V8]] : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.add [[V4]], [[V9]] : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// DECOMPOSE-NEXT: return [[V10]] : tensor<2x6xf32>
func.func @linear(%a: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %r = nn.resize %a {coordinates = #nn<resize_coordinates half_pixel>, mode = #nn<resize_mode linear>, nearest = #nn<resize_nearest floor>, scales = array<f64: 1.0e+00, 2.0e+00>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}
