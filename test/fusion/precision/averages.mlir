// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --round-contractions | FileCheck %s

// Averages by rounded probabilities are divided by the sum of these, which is one but for a rounding error.

// The gradient of a softmax whose result a product reads. A row whose sum is zero has averages of zero.
// CHECK-LABEL: @softmax_gradient(
// CHECK: %[[P:.*]] = prim.div
// CHECK: %[[R:.*]] = prim.convert %[[P]] : (tensor<8x16xf32>) -> tensor<8x16xbf16>
// CHECK: %[[K:.*]] = prim.convert %[[R]]
// CHECK: %[[T:.*]] = prim.reduce sum %[[K]] {dimensions = array<i64: 1>}
// CHECK: %[[Z:.*]] = prim.compare eq %[[T]]
// CHECK: %[[S:.*]] = prim.select %[[Z]], {{.*}}, %[[T]]
// CHECK: %[[M:.*]] = prim.mul %arg2, %[[K]]
// CHECK: %[[A:.*]] = prim.reduce sum %[[M]]
// CHECK: %[[Q:.*]] = prim.div %[[A]], %[[S]]
// CHECK: prim.broadcast %[[Q]]
// CHECK: return
func.func @softmax_gradient(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>, %dp: tensor<8x16xf32>) -> (tensor<8x4xf32>, tensor<8x16xf32>) {
  %zero = prim.constant dense<0.0> : tensor<8xf32>
  %one = prim.constant dense<1.0> : tensor<8xf32>
  %e = prim.exp %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = prim.reduce sum %e {dimensions = array<i64: 1>} : (tensor<8x16xf32>) -> tensor<8xf32>
  %none = prim.compare eq %s, %zero : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %some = prim.select %none, %one, %s : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %0 = prim.broadcast %some {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x16xf32>
  %p = prim.div %e, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %p, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = prim.mul %dp, %p : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = prim.reduce sum %1 {dimensions = array<i64: 1>} : (tensor<8x16xf32>) -> tensor<8xf32>
  %3 = prim.broadcast %2 {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x16xf32>
  %4 = prim.sub %dp, %3 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %dx = prim.mul %p, %4 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y, %dx : tensor<8x4xf32>, tensor<8x16xf32>
}

// What was divided by the sums of columns adds up to anything along a row.
// CHECK-LABEL: @other_dimension(
// CHECK-NOT: prim.div %{{.*}} : (tensor<8xf32>
// CHECK: return
func.func @other_dimension(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>, %v: tensor<8x16xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %e = prim.exp %arg0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = prim.reduce sum %e {dimensions = array<i64: 0>} : (tensor<8x16xf32>) -> tensor<16xf32>
  %0 = prim.broadcast %s {dimensions = array<i64: 1>} : (tensor<16xf32>) -> tensor<8x16xf32>
  %p = prim.div %e, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %p, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = prim.mul %v, %p : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = prim.reduce sum %1 {dimensions = array<i64: 1>} : (tensor<8x16xf32>) -> tensor<8xf32>
  return %y, %2 : tensor<8x4xf32>, tensor<8xf32>
}

// Nor do other quotients.
// CHECK-LABEL: @other_divisor(
// CHECK-NOT: prim.div %{{.*}} : (tensor<8xf32>
// CHECK: return
func.func @other_divisor(%arg0: tensor<8x16xf32>, %w: tensor<16x4xf32>, %v: tensor<8x16xf32>, %x: tensor<8x16xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %s = prim.reduce sum %x {dimensions = array<i64: 1>} : (tensor<8x16xf32>) -> tensor<8xf32>
  %0 = prim.broadcast %s {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x16xf32>
  %p = prim.div %arg0, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = prim.dot_general %p, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = prim.mul %v, %p : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = prim.reduce sum %1 {dimensions = array<i64: 1>} : (tensor<8x16xf32>) -> tensor<8xf32>
  return %y, %2 : tensor<8x4xf32>, tensor<8xf32>
}
