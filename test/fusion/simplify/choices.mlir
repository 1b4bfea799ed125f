// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --simplify | FileCheck %s

// CHECK-LABEL: @known_choice
// CHECK-NEXT: return %arg1
func.func @known_choice(%p: tensor<3xi1>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %true = prim.constant dense<true> : tensor<3xi1>
  %0 = prim.or %p, %true : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
  %1 = prim.neg %x : (tensor<3xf32>) -> tensor<3xf32>
  %2 = prim.select %0, %x, %1 : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = prim.select %p, %2, %2 : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %3 : tensor<3xf32>
}

// CHECK-LABEL: @choice_of_choices
// CHECK-NEXT: prim.select %arg0, %arg1, %arg2
// CHECK-NEXT: return
func.func @choice_of_choices(%p: tensor<3xi1>, %x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %0 = prim.not %p : (tensor<3xi1>) -> tensor<3xi1>
  %1 = prim.select %0, %y, %x : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = prim.select %p, %1, %y : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}

// CHECK-LABEL: @idle_guard
// CHECK-NEXT: prim.constant dense<2.000000e+00>
// CHECK-NEXT: prim.mul %arg0
// CHECK-NEXT: return
func.func @idle_guard(%dy: tensor<3xf32>) -> tensor<3xf32> {
  %zero = prim.constant dense<0.0> : tensor<3xf32>
  %two = prim.constant dense<2.0> : tensor<3xf32>
  %0 = prim.compare eq %dy, %zero : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %1 = prim.mul %dy, %two : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = prim.select %0, %zero, %1 : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}

// CHECK-LABEL: @compare
// CHECK-DAG: %[[T:.*]] = prim.constant dense<true> : tensor<3xi1>
// CHECK-DAG: %[[E:.*]] = prim.compare eq %arg1, %arg1
// CHECK: return %[[T]], %[[E]]
func.func @compare(%i: tensor<3xi32>, %x: tensor<3xf32>) -> (tensor<3xi1>, tensor<3xi1>) {
  %0 = prim.compare le %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  %1 = prim.compare eq %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  return %0, %1 : tensor<3xi1>, tensor<3xi1>
}

// CHECK-LABEL: @convert
// CHECK-NEXT: %[[N:.*]] = prim.convert %arg0 : (tensor<3xf32>) -> tensor<3xf16>
// CHECK-NEXT: %[[W:.*]] = prim.convert %[[N]] : (tensor<3xf16>) -> tensor<3xf32>
// CHECK-NEXT: return %arg0, %[[W]]
func.func @convert(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = prim.convert %x : (tensor<3xf32>) -> tensor<3xf64>
  %1 = prim.convert %0 : (tensor<3xf64>) -> tensor<3xf32>
  %2 = prim.convert %x : (tensor<3xf32>) -> tensor<3xf16>
  %3 = prim.convert %2 : (tensor<3xf16>) -> tensor<3xf32>
  return %1, %3 : tensor<3xf32>, tensor<3xf32>
}

// Through a float an integer saturates (300 becomes 127), at once it would wrap (300 becomes 44).
// CHECK-LABEL: @convert_saturates
// CHECK-NEXT: %[[F:.*]] = prim.convert %arg0 : (tensor<3xi32>) -> tensor<3xf64>
// CHECK-NEXT: %[[N:.*]] = prim.convert %[[F]] : (tensor<3xf64>) -> tensor<3xi8>
// CHECK-NEXT: %[[W:.*]] = prim.convert %arg0 : (tensor<3xi32>) -> tensor<3xi64>
// CHECK-NEXT: return %[[N]], %[[W]]
func.func @convert_saturates(%i: tensor<3xi32>) -> (tensor<3xi8>, tensor<3xi64>) {
  %0 = prim.convert %i : (tensor<3xi32>) -> tensor<3xf64>
  %1 = prim.convert %0 : (tensor<3xf64>) -> tensor<3xi8>
  %2 = prim.convert %0 : (tensor<3xf64>) -> tensor<3xi64>
  return %1, %2 : tensor<3xi8>, tensor<3xi64>
}

// Where the choice at zero is not zero, at another number than zero, or of another value, it stays.
// CHECK-LABEL: @guards_that_stay
// CHECK-COUNT-3: prim.select
// CHECK: return
func.func @guards_that_stay(%dy: tensor<3xf32>, %x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %zero = prim.constant dense<0.0> : tensor<3xf32>
  %one = prim.constant dense<1.0> : tensor<3xf32>
  %two = prim.constant dense<2.0> : tensor<3xf32>
  %isZero = prim.compare eq %dy, %zero : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %isOne = prim.compare eq %dy, %one : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %twice = prim.mul %dy, %two : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %other = prim.mul %x, %two : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %0 = prim.select %isZero, %one, %twice : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.select %isOne, %zero, %twice : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = prim.select %isZero, %zero, %other : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// An integer beside itself, in every direction.
// CHECK-LABEL: @compare_with_itself
// CHECK-DAG: %[[T:.*]] = prim.constant dense<true> : tensor<3xi1>
// CHECK-DAG: %[[F:.*]] = prim.constant dense<false> : tensor<3xi1>
// CHECK: return %[[T]], %[[F]], %[[F]], %[[T]], %[[F]], %[[T]]
func.func @compare_with_itself(%i: tensor<3xi32>) -> (tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>) {
  %0 = prim.compare eq %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  %1 = prim.compare ne %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  %2 = prim.compare lt %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  %3 = prim.compare le %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  %4 = prim.compare gt %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  %5 = prim.compare ge %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>
}

// A float of more bits is finite where it was; one of fewer may not be, and an integer is none.
// CHECK-LABEL: @finite
// CHECK-DAG: prim.is_finite %arg0 : (tensor<3xf16>) -> tensor<3xi1>
// CHECK-DAG: %[[F:.*]] = prim.convert %arg1
// CHECK-DAG: prim.is_finite %[[F]] : (tensor<3xf16>) -> tensor<3xi1>
// CHECK-DAG: %[[I:.*]] = prim.convert %arg2
// CHECK-DAG: prim.is_finite %[[I]] : (tensor<3xf32>) -> tensor<3xi1>
func.func @finite(%h: tensor<3xf16>, %x: tensor<3xf32>, %i: tensor<3xi8>) -> (tensor<3xi1>, tensor<3xi1>, tensor<3xi1>) {
  %0 = prim.convert %h : (tensor<3xf16>) -> tensor<3xf32>
  %1 = prim.is_finite %0 : (tensor<3xf32>) -> tensor<3xi1>
  %2 = prim.convert %x : (tensor<3xf32>) -> tensor<3xf16>
  %3 = prim.is_finite %2 : (tensor<3xf16>) -> tensor<3xi1>
  %4 = prim.convert %i : (tensor<3xi8>) -> tensor<3xf32>
  %5 = prim.is_finite %4 : (tensor<3xf32>) -> tensor<3xi1>
  return %1, %3, %5 : tensor<3xi1>, tensor<3xi1>, tensor<3xi1>
}
