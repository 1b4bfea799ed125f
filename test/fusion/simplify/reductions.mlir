// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --simplify | FileCheck %s

// CHECK-LABEL: @of_units
// CHECK-NEXT: prim.reshape %arg0 : (tensor<2x1xf32>) -> tensor<2xf32>
func.func @of_units(%x: tensor<2x1xf32>) -> tensor<2xf32> {
  %0 = prim.reduce max %x {dimensions = array<i64: 1>} : (tensor<2x1xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @of_reduce
// CHECK-NEXT: prim.reduce sum %arg0 {dimensions = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
func.func @of_reduce(%x: tensor<2x3x4xf32>) -> tensor<3xf32> {
  %0 = prim.reduce sum %x {dimensions = array<i64: 0>} : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  %1 = prim.reduce sum %0 {dimensions = array<i64: 1>} : (tensor<3x4xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// CHECK-LABEL: @of_broadcast
// CHECK-NEXT: %[[C:.*]] = prim.constant dense<8.000000e+00> : tensor<3xf32>
// CHECK-NEXT: %[[M:.*]] = prim.mul %arg0, %[[C]]
// CHECK-NEXT: return %[[M]], %arg0
func.func @of_broadcast(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = prim.broadcast %x {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3x4xf32>
  %1 = prim.reduce sum %0 {dimensions = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %2 = prim.reduce max %0 {dimensions = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  return %1, %2 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @of_transpose
// CHECK-NEXT: prim.reduce sum %arg0 {dimensions = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: return
func.func @of_transpose(%x: tensor<2x3x4xf32>) -> tensor<2x4xf32> {
  %0 = prim.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = prim.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<3x2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: @of_squeezed
// CHECK-NEXT: prim.reduce sum %arg0 {dimensions = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
// CHECK-NEXT: return
func.func @of_squeezed(%x: tensor<2x3xf32>) -> tensor<3xf32> {
  %0 = prim.reshape %x : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  %1 = prim.reduce sum %0 {dimensions = array<i64: 0, 1>} : (tensor<2x1x3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// CHECK-LABEL: @of_constant
// CHECK-NEXT: prim.constant dense<1.000000e+06> : tensor<f32>
func.func @of_constant() -> tensor<f32> {
  %0 = prim.constant dense<1.0> : tensor<1000x1000xf32>
  %1 = prim.reduce sum %0 {dimensions = array<i64: 0, 1>} : (tensor<1000x1000xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// The bias of a linear layer whose batch dimensions were made one.
// CHECK-LABEL: @of_reshape
// CHECK-NEXT: prim.reduce sum %arg0 {dimensions = array<i64: 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return
func.func @of_reshape(%x: tensor<2x3x4xf32>) -> tensor<4xf32> {
  %0 = prim.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = prim.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<6x4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Sums of 16-bit floats accumulate in f32.
// CHECK-LABEL: @halves
// CHECK-NEXT: %[[W:.*]] = prim.convert %arg0 : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[S:.*]] = prim.reduce sum %[[W]]
// CHECK-NEXT: prim.convert %[[S]] : (tensor<4xf32>) -> tensor<4xbf16>
func.func @halves(%a: tensor<4x8xbf16>) -> tensor<4xbf16> {
  %0 = prim.reduce sum %a {dimensions = array<i64: 1>} : (tensor<4x8xbf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// Products of what is repeated are powers; of a group of dimensions that a reshape made, all are reduced or none.
// CHECK-LABEL: @reductions_that_stay
// CHECK: prim.broadcast
// CHECK: prim.reduce prod
// CHECK: prim.reshape
// CHECK: prim.reduce sum
// CHECK: return
func.func @reductions_that_stay(%x: tensor<3xf32>, %y: tensor<12xf32>) -> (tensor<3xf32>, tensor<4xf32>) {
  %0 = prim.broadcast %x {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = prim.reduce prod %0 {dimensions = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
  %2 = prim.reshape %y : (tensor<12xf32>) -> tensor<3x4xf32>
  %3 = prim.reduce sum %2 {dimensions = array<i64: 0>} : (tensor<3x4xf32>) -> tensor<4xf32>
  return %1, %3 : tensor<3xf32>, tensor<4xf32>
}

// CHECK-LABEL: @product_of_constant
// CHECK: prim.constant dense<8.000000e+00> : tensor<f32>
// CHECK-NEXT: return
func.func @product_of_constant() -> tensor<f32> {
  %c = prim.constant dense<2.0> : tensor<3xf32>
  %0 = prim.reduce prod %c {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
