// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --simplify | FileCheck %s
// Where a rule must not apply although the reals would allow it: ranges and roundings of types, which the
// reference interpreter, in double precision, does not see.

// A product of factors may leave the range of the type where the steps do not.
// CHECK-LABEL: @small_factors
// CHECK: prim.mul
// CHECK: prim.mul
// CHECK: return
func.func @small_factors(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = prim.constant dense<1.0e-3> : tensor<3xf32>
  %0 = prim.mul %x, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.mul %0, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// CHECK-LABEL: @large_factors
// CHECK: prim.mul
// CHECK: prim.mul
// CHECK: return
func.func @large_factors(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = prim.constant dense<1.0e+3> : tensor<3xf32>
  %0 = prim.mul %x, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.mul %0, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// The inverse of 2^15 is subnormal in f16.
// CHECK-LABEL: @large_divisor
// CHECK: prim.div
func.func @large_divisor(%x: tensor<3xf16>) -> tensor<3xf16> {
  %c = prim.constant dense<32768.0> : tensor<3xf16>
  %0 = prim.div %x, %c : (tensor<3xf16>, tensor<3xf16>) -> tensor<3xf16>
  return %0 : tensor<3xf16>
}

// Dividing by 3 is no product.
// CHECK-LABEL: @inexact_divisor
// CHECK: prim.div
func.func @inexact_divisor(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = prim.constant dense<3.0> : tensor<3xf32>
  %0 = prim.div %x, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Nor is dividing integers by 2.
// CHECK-LABEL: @integer_divisor
// CHECK: prim.div
func.func @integer_divisor(%i: tensor<3xi32>) -> tensor<3xi32> {
  %c = prim.constant dense<2> : tensor<3xi32>
  %0 = prim.div %i, %c : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// A factor may be there to keep the sum in the range of the type.
// CHECK-LABEL: @small_scale
// CHECK: prim.mul %arg0
// CHECK: prim.dot_general
func.func @small_scale(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %c = prim.constant dense<1.0e-4> : tensor<2x3xf32>
  %0 = prim.mul %x, %c : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = prim.dot_general %0, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: @scaled_halves
// CHECK: prim.mul %arg0
// CHECK: prim.dot_general
func.func @scaled_halves(%x: tensor<2x3xf16>, %w: tensor<3x4xf16>) -> tensor<2x4xf16> {
  %c = prim.constant dense<0.125> : tensor<2x3xf16>
  %0 = prim.mul %x, %c : (tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  %1 = prim.dot_general %0, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3xf16>, tensor<3x4xf16>) -> tensor<2x4xf16>
  return %1 : tensor<2x4xf16>
}

// The product of the unscaled operand is read by others, too: the factor stays where it is.
// CHECK-LABEL: @scaled_for_others
// CHECK: %[[M:.*]] = prim.mul %arg0
// CHECK: prim.dot_general %[[M]]
func.func @scaled_for_others(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<2x3xf32>) {
  %c = prim.constant dense<0.5> : tensor<2x3xf32>
  %0 = prim.mul %x, %c : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = prim.dot_general %0, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %1, %0 : tensor<2x4xf32>, tensor<2x3xf32>
}

// Neither 16-bit float holds all of the other; an i32 is not exact in f32.
// CHECK-LABEL: @rounded_between
// CHECK-DAG: prim.convert %arg0 : (tensor<3xf16>) -> tensor<3xbf16>
// CHECK-DAG: prim.convert %arg1 : (tensor<3xi32>) -> tensor<3xf32>
// CHECK: return
func.func @rounded_between(%x: tensor<3xf16>, %i: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi64>) {
  %0 = prim.convert %x : (tensor<3xf16>) -> tensor<3xbf16>
  %1 = prim.convert %0 : (tensor<3xbf16>) -> tensor<3xf32>
  %2 = prim.convert %i : (tensor<3xi32>) -> tensor<3xf32>
  %3 = prim.convert %2 : (tensor<3xf32>) -> tensor<3xi64>
  return %1, %3 : tensor<3xf32>, tensor<3xi64>
}

// A view that makes more of a constant is not folded into one.
// CHECK-LABEL: @grown_constant
// CHECK: prim.pad
func.func @grown_constant() -> tensor<64xf32> {
  %zero = prim.constant dense<0.0> : tensor<f32>
  %c = prim.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = prim.pad %c, %zero {low = array<i64: 30>, high = array<i64: 31>, interior = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// Constants that repeat in a part only, or differ behind their first numbers.
// CHECK-LABEL: @nearly_repeated
// CHECK-NEXT: %[[C:.*]] = prim.constant dense<{{.*}}> : tensor<2x128xi8>
// CHECK-NEXT: return %[[C]]
func.func @nearly_repeated() -> tensor<2x128xi8> {
  %0 = prim.constant dense<"0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e00"> : tensor<2x128xi8>
  return %0 : tensor<2x128xi8>
}

// What the optimizer reads stays behind its barrier, known or not.
// CHECK-LABEL: @known_gradient
// CHECK: %[[G:.*]] = prim.optimization_barrier
// CHECK: prim.mul %[[G]]
func.func @known_gradient(%rate: tensor<4xf32>) -> tensor<4xf32> {
  %c = prim.constant dense<7.0> : tensor<4xf32>
  %0 = prim.optimization_barrier %c : (tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.mul %0, %rate : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Doubles, in which constants are folded, do not hold all 64-bit integers: not the greatest, nor 2^53 + 1.
// CHECK-LABEL: @large_integers
// CHECK-DAG: %[[GREATEST:.*]] = prim.constant dense<9223372036854775807> : tensor<3xi64>
// CHECK-DAG: %[[ODD:.*]] = prim.constant dense<9007199254740993> : tensor<3xi64>
// CHECK-DAG: %[[MIXED:.*]] = prim.constant dense<[9007199254740993, 1, 2]> : tensor<3xi64>
// CHECK-DAG: %[[LIMIT:.*]] = prim.constant dense<9007199254740991> : tensor<3xi64>
// CHECK-DAG: prim.sub %[[GREATEST]]
// CHECK-DAG: prim.reduce max %[[ODD]]
// CHECK-DAG: prim.slice %[[MIXED]]
// CHECK-DAG: prim.add %[[LIMIT]]
// CHECK-DAG: prim.reduce sum %[[LIMIT]]
// CHECK: return
func.func @large_integers(%x: tensor<3xi64>) -> (tensor<3xi64>, tensor<i64>, tensor<2xi64>, tensor<3xi64>, tensor<i64>) {
  %greatest = prim.constant dense<9223372036854775807> : tensor<3xi64>
  %one = prim.constant dense<1> : tensor<3xi64>
  %odd = prim.constant dense<9007199254740993> : tensor<3xi64>
  %mixed = prim.constant dense<[9007199254740993, 1, 2]> : tensor<3xi64>
  %limit = prim.constant dense<9007199254740991> : tensor<3xi64>
  %0 = prim.sub %greatest, %one : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %1 = prim.reduce max %odd {dimensions = array<i64: 0>} : (tensor<3xi64>) -> tensor<i64>
  %2 = prim.slice %mixed {starts = array<i64: 0>, limits = array<i64: 2>, strides = array<i64: 1>} : (tensor<3xi64>) -> tensor<2xi64>
  %3 = prim.add %limit, %one : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %4 = prim.reduce sum %limit {dimensions = array<i64: 0>} : (tensor<3xi64>) -> tensor<i64>
  return %0, %1, %2, %3, %4 : tensor<3xi64>, tensor<i64>, tensor<2xi64>, tensor<3xi64>, tensor<i64>
}

// The greatest of zeros and updates, updates of ones, and updates that something else reads as well stay as they are.
// CHECK-LABEL: @updates_that_stay
// CHECK-COUNT-3: prim.add
// CHECK: return
func.func @updates_that_stay(%x: tensor<8x3xf32>, %i: tensor<4xi64>, %u: tensor<4x3xf32>)
    -> (tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>) {
  %zero = prim.constant dense<0.0> : tensor<8x3xf32>
  %one = prim.constant dense<1.0> : tensor<8x3xf32>
  %0 = prim.scatter %zero, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind max>} : (tensor<8x3xf32>, tensor<4xi64>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %1 = prim.add %0, %x : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  %2 = prim.scatter %one, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<8x3xf32>, tensor<4xi64>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %3 = prim.add %2, %x : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  %4 = prim.scatter %zero, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<8x3xf32>, tensor<4xi64>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %5 = prim.add %4, %x : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %1, %3, %4, %5 : tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>, tensor<8x3xf32>
}

// In 16 bits updates that are far smaller than what they are added to are lost, but for their sum.
// CHECK-LABEL: @short_updates_that_stay
// CHECK-COUNT-2: prim.add
// CHECK: return
func.func @short_updates_that_stay(%x: tensor<8xbf16>, %y: tensor<8xf16>, %i: tensor<4xi64>, %u: tensor<4xbf16>, %v: tensor<4xf16>)
    -> (tensor<8xbf16>, tensor<8xf16>) {
  %zero = prim.constant dense<0.0> : tensor<8xbf16>
  %none = prim.constant dense<0.0> : tensor<8xf16>
  %0 = prim.scatter %zero, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<8xbf16>, tensor<4xi64>, tensor<4xbf16>) -> tensor<8xbf16>
  %1 = prim.add %x, %0 : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  %2 = prim.scatter %none, %i, %v {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<8xf16>, tensor<4xi64>, tensor<4xf16>) -> tensor<8xf16>
  %3 = prim.add %2, %y : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  return %1, %3 : tensor<8xbf16>, tensor<8xf16>
}

// Sorts that something else reads as well, and whose slices reach from one end to the other.
// CHECK-LABEL: @sorts_that_stay
// CHECK-COUNT-2: prim.sort %arg0 {descending = {{true|false}}, dimension = 0 : i64} : (tensor<9xf32>) -> (tensor<9xf32>, tensor<9xi64>)
// CHECK: return
func.func @sorts_that_stay(%x: tensor<9xf32>) -> (tensor<3xf32>, tensor<9xi64>, tensor<3xf32>) {
  %v, %i = prim.sort %x {dimension = 0 : i64, descending = true} : (tensor<9xf32>) -> (tensor<9xf32>, tensor<9xi64>)
  %0 = prim.slice %v {starts = array<i64: 0>, limits = array<i64: 3>, strides = array<i64: 1>} : (tensor<9xf32>) -> tensor<3xf32>
  %w, %j = prim.sort %x {dimension = 0 : i64, descending = false} : (tensor<9xf32>) -> (tensor<9xf32>, tensor<9xi64>)
  %1 = prim.slice %w {starts = array<i64: 0>, limits = array<i64: 9>, strides = array<i64: 4>} : (tensor<9xf32>) -> tensor<3xf32>
  return %0, %i, %1 : tensor<3xf32>, tensor<9xi64>, tensor<3xf32>
}
