// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --simplify | FileCheck %s

// The positions of a sequence.
// CHECK-LABEL: @gather_of_run
// CHECK-NEXT: %[[S:.*]] = prim.slice %arg0 {limits = array<i64: 4, 3>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : (tensor<8x3xf32>) -> tensor<3x3xf32>
// CHECK-NEXT: prim.reshape %[[S]] : (tensor<3x3xf32>) -> tensor<1x3x3xf32>
// CHECK-NEXT: return
func.func @gather_of_run(%x: tensor<8x3xf32>) -> tensor<1x3x3xf32> {
  %0 = prim.constant dense<[[1, 2, 3]]> : tensor<1x3xi64>
  %1 = prim.gather %x, %0 {axis = 0 : i64} : (tensor<8x3xf32>, tensor<1x3xi64>) -> tensor<1x3x3xf32>
  return %1 : tensor<1x3x3xf32>
}

// CHECK-LABEL: @scatter_of_run
// CHECK-NEXT: %[[Z:.*]] = prim.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[R:.*]] = prim.reshape %arg0
// CHECK-NEXT: prim.pad %[[R]], %[[Z]] {high = array<i64: 4, 0>, interior = array<i64: 0, 0>, low = array<i64: 1, 0>}
// CHECK-NEXT: return
func.func @scatter_of_run(%dy: tensor<1x3x3xf32>) -> tensor<8x3xf32> {
  %zero = prim.constant dense<0.0> : tensor<8x3xf32>
  %0 = prim.constant dense<[[1, 2, 3]]> : tensor<1x3xi64>
  %1 = prim.scatter %zero, %0, %dy {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<8x3xf32>, tensor<1x3xi64>, tensor<1x3x3xf32>) -> tensor<8x3xf32>
  return %1 : tensor<8x3xf32>
}

// CHECK-LABEL: @not_a_run
// CHECK: prim.gather
func.func @not_a_run(%x: tensor<8x3xf32>) -> tensor<3x3xf32> {
  %0 = prim.constant dense<[1, 3, 2]> : tensor<3xi64>
  %1 = prim.gather %x, %0 {axis = 0 : i64} : (tensor<8x3xf32>, tensor<3xi64>) -> tensor<3x3xf32>
  return %1 : tensor<3x3xf32>
}

// The check of the indices must stay, whatever is gathered: labels out of range are found by it.
// CHECK-LABEL: @gather_of_one_number
// CHECK: prim.gather
func.func @gather_of_one_number(%i: tensor<64xi64>) -> tensor<64xf32> {
  %w = prim.constant dense<1.0> : tensor<10xf32>
  %0 = prim.gather %w, %i {axis = 0 : i64} : (tensor<10xf32>, tensor<64xi64>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// Runs that leave the data are errors, found where the model runs.
// CHECK-LABEL: @gather_from_below
// CHECK: prim.gather
func.func @gather_from_below(%x: tensor<8x3xf32>) -> tensor<3x3xf32> {
  %i = prim.constant dense<[-1, 0, 1]> : tensor<3xi64>
  %0 = prim.gather %x, %i {axis = 0 : i64} : (tensor<8x3xf32>, tensor<3xi64>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// CHECK-LABEL: @gather_from_above
// CHECK: prim.gather
func.func @gather_from_above(%x: tensor<8x3xf32>) -> tensor<3x3xf32> {
  %i = prim.constant dense<[6, 7, 8]> : tensor<3xi64>
  %0 = prim.gather %x, %i {axis = 0 : i64} : (tensor<8x3xf32>, tensor<3xi64>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// CHECK-LABEL: @scatter_above
// CHECK: prim.scatter
func.func @scatter_above(%x: tensor<8x3xf32>, %u: tensor<3x3xf32>) -> tensor<8x3xf32> {
  %i = prim.constant dense<[6, 7, 8]> : tensor<3xi64>
  %0 = prim.scatter %x, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<8x3xf32>, tensor<3xi64>, tensor<3x3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
