// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --simplify | FileCheck %s

// CHECK-LABEL: @neutral
// CHECK-NEXT: return %arg0
func.func @neutral(%x: tensor<3xf32>) -> tensor<3xf32> {
  %zero = prim.constant dense<0.0> : tensor<3xf32>
  %one = prim.constant dense<1.0> : tensor<3xf32>
  %0 = prim.add %zero, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.mul %one, %0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = prim.sub %1, %zero : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = prim.div %2, %one : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %4 = prim.neg %3 : (tensor<3xf32>) -> tensor<3xf32>
  %5 = prim.neg %4 : (tensor<3xf32>) -> tensor<3xf32>
  %6 = prim.pow %5, %one : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %7 = prim.max %6, %6 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %7 : tensor<3xf32>
}

// NaN and infinity stay what they are: only an integer times 0 is 0, and x - x is not.
// CHECK-LABEL: @zero_times
// CHECK-DAG: %[[I:.*]] = prim.constant dense<0> : tensor<3xi32>
// CHECK-DAG: %[[M:.*]] = prim.mul %arg0
// CHECK-DAG: %[[S:.*]] = prim.sub %arg0, %arg0
// CHECK: return %[[M]], %[[S]], %[[I]]
func.func @zero_times(%x: tensor<3xf32>, %i: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi32>) {
  %zero = prim.constant dense<0.0> : tensor<3xf32>
  %nought = prim.constant dense<0> : tensor<3xi32>
  %0 = prim.mul %x, %zero : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.sub %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = prim.mul %nought, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xi32>
}

// CHECK-LABEL: @signs
// CHECK-NEXT: %[[S:.*]] = prim.sub %arg0, %arg1
// CHECK-NEXT: %[[R:.*]] = prim.sub %arg1, %arg0
// CHECK-NEXT: %[[M:.*]] = prim.mul %arg0, %arg1
// CHECK-NEXT: return %[[S]], %[[R]], %[[M]]
func.func @signs(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = prim.neg %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.neg %y : (tensor<3xf32>) -> tensor<3xf32>
  %2 = prim.add %x, %1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = prim.sub %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %4 = prim.neg %3 : (tensor<3xf32>) -> tensor<3xf32>
  %5 = prim.mul %0, %1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %2, %4, %5 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @factors
// CHECK-NEXT: %[[C:.*]] = prim.constant dense<-3.000000e+00> : tensor<3xf32>
// CHECK-NEXT: %[[M:.*]] = prim.mul %arg0, %[[C]]
// CHECK-NEXT: return %[[M]]
func.func @factors(%x: tensor<3xf32>) -> tensor<3xf32> {
  %two = prim.constant dense<2.0> : tensor<3xf32>
  %six = prim.constant dense<6.0> : tensor<3xf32>
  %0 = prim.neg %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.mul %0, %six : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = prim.div %1, %two : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}

// CHECK-LABEL: @powers
// CHECK-NEXT: %[[S:.*]] = prim.mul %arg0, %arg0
// CHECK-NEXT: %[[R:.*]] = prim.rsqrt %arg0
// CHECK-NEXT: return %[[S]], %[[R]]
func.func @powers(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %two = prim.constant dense<2.0> : tensor<3xf32>
  %half = prim.constant dense<-0.5> : tensor<3xf32>
  %0 = prim.pow %x, %two : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.pow %x, %half : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @updates_of_zeros
// CHECK-NEXT: %[[S:.*]] = prim.scatter %arg0, %arg1, %arg2 {axis = 0 : i64, kind = #prim<scatter_kind add>}
// CHECK-NEXT: %[[T:.*]] = prim.scatter %[[S]], %arg1, %arg3
// CHECK-NEXT: return %[[T]]
func.func @updates_of_zeros(%x: tensor<8x3xf32>, %i: tensor<4xi64>, %u: tensor<4x3xf32>, %v: tensor<4x3xf32>) -> tensor<8x3xf32> {
  %zero = prim.constant dense<0.0> : tensor<8x3xf32>
  %0 = prim.scatter %zero, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<8x3xf32>, tensor<4xi64>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %1 = prim.add %0, %x : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  %2 = prim.scatter %zero, %i, %v {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<8x3xf32>, tensor<4xi64>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %3 = prim.add %1, %2 : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %3 : tensor<8x3xf32>
}
