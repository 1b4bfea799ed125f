// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --round-contractions | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: accc-opt %s --round-contractions=type=f16 | FileCheck %s --check-prefixes=CHECK,F16

// What a product reads rounded others read as it was computed where they would show the difference: here X; elsewhere
// they read it rounded as well, and it is kept in 16 bits alone.

// Where the greatest of some elements is: none equals it once it is rounded.
// CHECK-LABEL: @greatest(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: %[[B:.*]] = prim.broadcast %[[X]]
// CHECK: prim.compare eq %arg2, %[[B]]
// CHECK: return
func.func @greatest(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>, %v: tensor<8x16x3xf32>) -> (tensor<8x4xf32>, tensor<8x16x3xi1>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = prim.broadcast %x {dimensions = array<i64: 0, 1>} : (tensor<8x16xf32>) -> tensor<8x16x3xf32>
  %1 = prim.compare eq %v, %0 : (tensor<8x16x3xf32>, tensor<8x16x3xf32>) -> tensor<8x16x3xi1>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16x3xi1>
}

// Where a ReLU is not zero.
// CHECK-LABEL: @kink(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: %[[K:.*]] = prim.convert %[[R]]
// CHECK: prim.compare gt %[[K]]
// CHECK: return
func.func @kink(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8x16xi1>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = prim.constant dense<0.0> : tensor<8x16xf32>
  %1 = prim.compare gt %x, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xi1>
}

// Where that of a sum is not.
// CHECK-LABEL: @sum_kink(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: %[[K:.*]] = prim.convert %[[R]]
// CHECK: prim.add %[[K]], %arg2
// CHECK: return
func.func @sum_kink(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>, %v: tensor<8x16xf32>) -> (tensor<8x4xf32>, tensor<8x16xi1>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = prim.constant dense<0.0> : tensor<8x16xf32>
  %s = prim.add %x, %v : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = prim.compare gt %s, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xi1>
}

// Where it is equal to another value.
// CHECK-LABEL: @difference(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.sub %arg2, %[[X]]
// CHECK: return
func.func @difference(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>, %v: tensor<8x16xf32>) -> (tensor<8x4xf32>, tensor<8x16xi1>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = prim.constant dense<0.0> : tensor<8x16xf32>
  %s = prim.sub %v, %x : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = prim.compare ne %s, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xi1>
}

// Where it is greater than another value.
// CHECK-LABEL: @threshold(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.compare gt %[[X]], %arg2
// CHECK: return
func.func @threshold(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>, %v: tensor<8x16xf32>) -> (tensor<8x4xf32>, tensor<8x16xi1>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = prim.compare gt %x, %v : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xi1>
}

// The logarithm of 1 - p.
// CHECK-LABEL: @complement(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.sub %{{.*}}, %[[X]]
// CHECK: return
func.func @complement(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = prim.constant dense<1.0> : tensor<8x16xf32>
  %s = prim.sub %0, %x : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = prim.log %s : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xf32>
}

// The slope of tanh, for another product or not, is as far off as its result.
// CHECK-LABEL: @slope(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: %[[K:.*]] = prim.convert %[[R]]
// CHECK: prim.mul %[[K]], %[[K]]
// CHECK: return
func.func @slope(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = prim.constant dense<1.0> : tensor<8x16xf32>
  %p = prim.mul %x, %x : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = prim.sub %0, %p : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xf32>
}

// A logarithm is far off where its operand is nearly one, and in f16 that of a small number.
// CHECK-LABEL: @logarithm(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.log %[[X]]
// CHECK: return
func.func @logarithm(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = prim.log %x : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xf32>
}

// In f16 so is a quotient, by what may be zero then.
// CHECK-LABEL: @quotient(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// BF16: %[[K:.*]] = prim.convert %[[R]]
// BF16: prim.div %arg2, %[[K]]
// F16: prim.div %arg2, %[[X]]
// CHECK: return
func.func @quotient(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>, %v: tensor<8x16xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = prim.div %v, %x : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xf32>
}

// The other way round it is not.
// CHECK-LABEL: @dividend(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: %[[K:.*]] = prim.convert %[[R]]
// CHECK: prim.div %[[K]], %arg2
// CHECK: return
func.func @dividend(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>, %v: tensor<8x16xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = prim.div %x, %v : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xf32>
}

// An exponential multiplies the error.
// CHECK-LABEL: @exponential(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.mul %[[X]], %arg2
// CHECK: return
func.func @exponential(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>, %v: tensor<8x16xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = prim.mul %x, %v : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = prim.exp %0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xf32>
}

// A square does not.
// CHECK-LABEL: @square(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: %[[K:.*]] = prim.convert %[[R]]
// CHECK: prim.pow %[[K]]
// CHECK: return
func.func @square(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = prim.constant dense<2.0> : tensor<8x16xf32>
  %1 = prim.pow %x, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xf32>
}

// A power that is data may.
// CHECK-LABEL: @base(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.pow %[[X]], %arg2
// CHECK: return
func.func @base(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>, %v: tensor<8x16xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = prim.pow %x, %v : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xf32>
}

// Which element is the greatest.
// CHECK-LABEL: @order(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.arg_reduce max %[[X]]
// CHECK: return
func.func @order(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8xi64>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = prim.arg_reduce max %x {dimension = 1 : i64} : (tensor<8x16xf32>) -> tensor<8xi64>
  return %y, %1 : tensor<8x4xf32>, tensor<8xi64>
}

// What rounds by itself.
// CHECK-LABEL: @steps(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.floor %[[X]]
// CHECK: return
func.func @steps(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = prim.floor %x : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xf32>
}

// Sums of many are as near as what they sum.
// CHECK-LABEL: @statistics(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: %[[K:.*]] = prim.convert %[[R]]
// CHECK: prim.reduce sum %[[K]]
// CHECK: return
func.func @statistics(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = prim.reduce sum %x {dimensions = array<i64: 1>} : (tensor<8x16xf32>) -> tensor<8xf32>
  return %y, %1 : tensor<8x4xf32>, tensor<8xf32>
}

// Which integer it is.
// CHECK-LABEL: @number(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.convert %[[X]] : {{.*}}xi32>
// CHECK: return
func.func @number(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8x16xi32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = prim.convert %x : (tensor<8x16xf32>) -> tensor<8x16xi32>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xi32>
}

// Whether it is zero.
// CHECK-LABEL: @truth(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: %[[K:.*]] = prim.convert %[[R]]
// CHECK: prim.convert %[[K]] : {{.*}}xi1>
// CHECK: return
func.func @truth(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8x16xi1>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = prim.convert %x : (tensor<8x16xf32>) -> tensor<8x16xi1>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xi1>
}

// A power below one, as a logarithm.
// CHECK-LABEL: @root(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// BF16: %[[K:.*]] = prim.convert %[[R]]
// BF16: prim.pow %[[K]]
// F16: prim.pow %[[X]]
// CHECK: return
func.func @root(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = prim.constant dense<0.5> : tensor<8x16xf32>
  %1 = prim.pow %x, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xf32>
}

// The exponential of a quotient.
// CHECK-LABEL: @ratio(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.div %arg2, %[[X]]
// CHECK: return
func.func @ratio(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>, %v: tensor<8x16xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = prim.div %v, %x : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = prim.exp %0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %1 : tensor<8x4xf32>, tensor<8x16xf32>
}

// The logarithm of what a sum of many lacks of one: none of it may be left.
// CHECK-LABEL: @complement_of_sum(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.reduce sum %[[X]]
// CHECK: return
func.func @complement_of_sum(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = prim.reduce sum %x {dimensions = array<i64: 1>} : (tensor<8x16xf32>) -> tensor<8xf32>
  %1 = prim.constant dense<1.0> : tensor<8xf32>
  %2 = prim.sub %1, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = prim.log %2 : (tensor<8xf32>) -> tensor<8xf32>
  return %y, %3 : tensor<8x4xf32>, tensor<8xf32>
}

// ... or the greater of two values.
// CHECK-LABEL: @complement_of_greater(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.max %[[X]]
// CHECK: return
func.func @complement_of_greater(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %c = prim.constant dense<0.5> : tensor<8x16xf32>
  %0 = prim.max %x, %c : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = prim.constant dense<1.0> : tensor<8x16xf32>
  %2 = prim.sub %1, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = prim.log %2 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %3 : tensor<8x4xf32>, tensor<8x16xf32>
}

// ... or a running sum.
// CHECK-LABEL: @complement_of_running_sum(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.cumulative sum %[[X]]
// CHECK: return
func.func @complement_of_running_sum(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = prim.cumulative sum %x {dimension = 1 : i64} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = prim.constant dense<1.0> : tensor<8x16xf32>
  %2 = prim.sub %1, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = prim.log %2 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %3 : tensor<8x4xf32>, tensor<8x16xf32>
}

// ... or what a scatter adds up.
// CHECK-LABEL: @complement_of_scattered(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.scatter {{.*}}, %[[X]]
// CHECK: return
func.func @complement_of_scattered(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>, %i: tensor<8xi64>) -> (tensor<8x4xf32>, tensor<3x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %none = prim.constant dense<0.0> : tensor<3x16xf32>
  %0 = prim.scatter %none, %i, %x {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<3x16xf32>, tensor<8xi64>, tensor<8x16xf32>) -> tensor<3x16xf32>
  %1 = prim.constant dense<1.0> : tensor<3x16xf32>
  %2 = prim.sub %1, %0 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %3 = prim.log %2 : (tensor<3x16xf32>) -> tensor<3x16xf32>
  return %y, %3 : tensor<8x4xf32>, tensor<3x16xf32>
}

// ... or a root.
// CHECK-LABEL: @complement_of_root(
// CHECK: %[[X:.*]] = prim.tanh %arg0
// CHECK: %[[R:.*]] = prim.convert %[[X]]
// CHECK: prim.sqrt %[[X]]
// CHECK: return
func.func @complement_of_root(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %x = prim.tanh %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %0 = prim.sqrt %x : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = prim.constant dense<1.0> : tensor<8x16xf32>
  %2 = prim.sub %1, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = prim.log %2 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %3 : tensor<8x4xf32>, tensor<8x16xf32>
}
