// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --simplify | FileCheck %s

// CHECK-LABEL: @reshape
// CHECK-NEXT: %[[C:.*]] = prim.constant dense<2.000000e+00> : tensor<2x6xf32>
// CHECK-NEXT: %[[M:.*]] = prim.mul %arg0, %[[C]] : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: return %[[M]]
func.func @reshape(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %two = prim.constant dense<2.0> : tensor<12xf32>
  %0 = prim.reshape %x : (tensor<2x6xf32>) -> tensor<12xf32>
  %1 = prim.mul %0, %two : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %2 = prim.reshape %1 : (tensor<12xf32>) -> tensor<2x6xf32>
  return %2 : tensor<2x6xf32>
}

// CHECK-LABEL: @transpose
// CHECK-NEXT: prim.compare lt %arg0, %arg1 : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xi1>
// CHECK-NEXT: return
func.func @transpose(%x: tensor<2x6xf32>, %y: tensor<2x6xf32>) -> tensor<2x6xi1> {
  %0 = prim.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x6xf32>) -> tensor<6x2xf32>
  %1 = prim.transpose %y {permutation = array<i64: 1, 0>} : (tensor<2x6xf32>) -> tensor<6x2xf32>
  %2 = prim.compare lt %0, %1 : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x2xi1>
  %3 = prim.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<6x2xi1>) -> tensor<2x6xi1>
  return %3 : tensor<2x6xi1>
}

// Where it does not cancel, a view stays where it is.
// CHECK-LABEL: @stays
// CHECK-NEXT: prim.exp %arg0
// CHECK-NEXT: prim.reshape
func.func @stays(%x: tensor<2x6xf32>) -> tensor<12xf32> {
  %0 = prim.exp %x : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %1 = prim.reshape %0 : (tensor<2x6xf32>) -> tensor<12xf32>
  return %1 : tensor<12xf32>
}
