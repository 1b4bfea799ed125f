// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt --form-fusions %s | FileCheck %s

// What every access walks as one is one dimension; what a broadcast walks alone is not.
// CHECK-LABEL: @collapsed
// CHECK: prim.fusion loop "neg"{{.*}} walks <extents = [1, 20], reduced = [], levels = [], depths = [0], in_place = [0],
// CHECK-SAME: accesses = (d0, d1) -> (d1 + d0 * 5)>
func.func @collapsed(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = prim.neg %x : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// CHECK-LABEL: @bias
// CHECK: prim.fusion loop "add"{{.*}} walks <extents = [1, 6, 5], {{.*}} in_place = [0],
// CHECK-SAME: accesses = (d0, d1, d2) -> (d2 + d1 * 5 + d0 * 15, d2)>
func.func @bias(%x: tensor<2x3x5xf32>, %b: tensor<5xf32>) -> tensor<2x3x5xf32> {
  %0 = prim.broadcast %b {dimensions = array<i64: 2>} : (tensor<5xf32>) -> tensor<2x3x5xf32>
  %1 = prim.add %x, %0 : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %1 : tensor<2x3x5xf32>
}

// Softmax: the sum stands behind the maximum, the quotient behind both.
// CHECK-LABEL: @levels
// CHECK: prim.fusion reduce {{.*}} walks <extents = [4, 5], reduced = [1], levels = [0, 1], depths = [2], in_place = [],
func.func @levels(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = prim.reduce max %x {dimensions = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4xf32>
  %1 = prim.broadcast %0 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x5xf32>
  %2 = prim.sub %x, %1 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %3 = prim.exp %2 : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %4 = prim.reduce sum %3 {dimensions = array<i64: 1>} : (tensor<4x5xf32>) -> tensor<4xf32>
  %5 = prim.broadcast %4 {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x5xf32>
  %6 = prim.div %3, %5 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return %6 : tensor<4x5xf32>
}

// An index that is data is a symbol; what decides whether memory is read counts as an access.
// CHECK-LABEL: @symbols
// CHECK: prim.fusion loop {{.*}} accesses = (d0, d1)[s0] -> (d0, d1 + s0 * 5, d1 + d0 * 5)>
func.func @symbols(%x: tensor<4x5xf32>, %i: tensor<3xi64>) -> tensor<3x5xf32> {
  %0 = prim.gather %x, %i {axis = 0 : i64} : (tensor<4x5xf32>, tensor<3xi64>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// CHECK-LABEL: @masks
// CHECK: prim.fusion loop {{.*}} walks <extents = [7],
// CHECK-SAME: accesses = (d0) -> (d0 - 1
func.func @masks(%x: tensor<5xf32>) -> tensor<7xf32> {
  %z = prim.constant dense<0.0> : tensor<f32>
  %0 = prim.pad %x, %z {low = array<i64: 1>, high = array<i64: 1>, interior = array<i64: 0>}
      : (tensor<5xf32>, tensor<f32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}
