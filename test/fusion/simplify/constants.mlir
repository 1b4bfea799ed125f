// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --simplify | FileCheck %s

// CHECK-LABEL: @splats
// CHECK-NEXT: prim.constant dense<5.000000e+00> : tensor<1000x1000xf32>
// CHECK-NEXT: return
func.func @splats() -> tensor<1000x1000xf32> {
  %two = prim.constant dense<2.0> : tensor<f32>
  %0 = prim.broadcast %two {dimensions = array<i64>} : (tensor<f32>) -> tensor<1000x1000xf32>
  %three = prim.constant dense<3.0> : tensor<1000x1000xf32>
  %1 = prim.add %0, %three : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %2 = prim.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  return %2 : tensor<1000x1000xf32>
}

// CHECK-LABEL: @elements
// CHECK-NEXT: prim.constant dense<{{\[\[}}3.000000e+00], [2.000000e+00], [1.000000e+00]]> : tensor<3x1xf32>
// CHECK-NEXT: return
func.func @elements() -> tensor<3x1xf32> {
  %0 = prim.constant dense<[1, 2, 3]> : tensor<3xi32>
  %1 = prim.convert %0 : (tensor<3xi32>) -> tensor<3xf32>
  %2 = prim.reverse %1 {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<3xf32>
  %3 = prim.reshape %2 : (tensor<3xf32>) -> tensor<3x1xf32>
  return %3 : tensor<3x1xf32>
}

// A view that makes more of what there is stays a view.
// CHECK-LABEL: @repeated
// CHECK-NEXT: prim.constant
// CHECK-NEXT: prim.broadcast
func.func @repeated() -> tensor<100x3xi32> {
  %0 = prim.constant dense<[1, 2, 3]> : tensor<3xi32>
  %1 = prim.broadcast %0 {dimensions = array<i64: 1>} : (tensor<3xi32>) -> tensor<100x3xi32>
  return %1 : tensor<100x3xi32>
}

// CHECK-LABEL: @common
// CHECK-NEXT: %[[E:.*]] = prim.exp %arg0
// CHECK-NEXT: return %[[E]], %[[E]]
func.func @common(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = prim.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %2 = prim.log %x : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
