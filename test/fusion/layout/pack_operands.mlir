// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --pack-operands | FileCheck %s

// One copy for four products of few rows, whichever dimension they contract.
// CHECK-LABEL: @transposed
// CHECK: %[[R:.*]] = prim.reshape %arg1 : (tensor<192x96xf32>) -> tensor<3x64x96xf32>
// CHECK-NEXT: %[[P:.*]] = prim.transpose %[[R]] {permutation = array<i64: 0, 2, 1>} : (tensor<3x64x96xf32>) -> tensor<3x96x64xf32>
// CHECK-NEXT: %[[D:.*]] = prim.dot_general %arg0, %[[P]] {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<2x96xf32>, tensor<3x96x64xf32>) -> tensor<2x3x64xf32>
// CHECK-NEXT: prim.reshape %[[D]] : (tensor<2x3x64xf32>) -> tensor<2x192xf32>
// CHECK-COUNT-3: prim.dot_general %{{.*}}, %[[P]]
func.func @transposed(%x: tensor<2x96xf32>, %w: tensor<192x96xf32>) -> (tensor<2x192xf32>, tensor<2x192xf32>, tensor<2x192xf32>, tensor<2x192xf32>) {
  %y = prim.add %x, %x : (tensor<2x96xf32>, tensor<2x96xf32>) -> tensor<2x96xf32>
  %z = prim.mul %x, %x : (tensor<2x96xf32>, tensor<2x96xf32>) -> tensor<2x96xf32>
  %v = prim.neg %x : (tensor<2x96xf32>) -> tensor<2x96xf32>
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<2x96xf32>, tensor<192x96xf32>) -> tensor<2x192xf32>
  %1 = prim.dot_general %y, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<2x96xf32>, tensor<192x96xf32>) -> tensor<2x192xf32>
  %2 = prim.dot_general %z, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<2x96xf32>, tensor<192x96xf32>) -> tensor<2x192xf32>
  %3 = prim.dot_general %v, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<2x96xf32>, tensor<192x96xf32>) -> tensor<2x192xf32>
  return %0, %1, %2, %3 : tensor<2x192xf32>, tensor<2x192xf32>, tensor<2x192xf32>, tensor<2x192xf32>
}

// 144 columns are panels of 48.
// CHECK-LABEL: @plain
// CHECK: %[[R:.*]] = prim.reshape %arg1 : (tensor<128x144xf32>) -> tensor<128x3x48xf32>
// CHECK-NEXT: %[[P:.*]] = prim.transpose %[[R]] {permutation = array<i64: 1, 0, 2>} : (tensor<128x3x48xf32>) -> tensor<3x128x48xf32>
// CHECK-COUNT-4: prim.dot_general %{{.*}}, %[[P]]
func.func @plain(%x: tensor<2x3x128xf32>, %w: tensor<128x144xf32>) -> (tensor<2x3x144xf32>, tensor<2x3x144xf32>, tensor<2x3x144xf32>, tensor<2x3x144xf32>) {
  %y = prim.add %x, %x : (tensor<2x3x128xf32>, tensor<2x3x128xf32>) -> tensor<2x3x128xf32>
  %z = prim.mul %x, %x : (tensor<2x3x128xf32>, tensor<2x3x128xf32>) -> tensor<2x3x128xf32>
  %v = prim.neg %x : (tensor<2x3x128xf32>) -> tensor<2x3x128xf32>
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3x128xf32>, tensor<128x144xf32>) -> tensor<2x3x144xf32>
  %1 = prim.dot_general %y, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3x128xf32>, tensor<128x144xf32>) -> tensor<2x3x144xf32>
  %2 = prim.dot_general %z, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3x128xf32>, tensor<128x144xf32>) -> tensor<2x3x144xf32>
  %3 = prim.dot_general %v, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3x128xf32>, tensor<128x144xf32>) -> tensor<2x3x144xf32>
  return %0, %1, %2, %3 : tensor<2x3x144xf32>, tensor<2x3x144xf32>, tensor<2x3x144xf32>, tensor<2x3x144xf32>
}

// Too few products for a copy; too many rows for it to matter; columns that make no panels.
// CHECK-LABEL: @left
// CHECK-NOT: prim.transpose
func.func @left(%x: tensor<2x96xf32>, %many: tensor<65x96xf32>, %w: tensor<96x192xf32>, %odd: tensor<96x190xf32>) -> (tensor<2x192xf32>, tensor<65x192xf32>, tensor<65x192xf32>, tensor<65x192xf32>, tensor<2x190xf32>, tensor<2x190xf32>, tensor<2x190xf32>, tensor<2x190xf32>) {
  %y = prim.add %many, %many : (tensor<65x96xf32>, tensor<65x96xf32>) -> tensor<65x96xf32>
  %z = prim.neg %many : (tensor<65x96xf32>) -> tensor<65x96xf32>
  %a = prim.add %x, %x : (tensor<2x96xf32>, tensor<2x96xf32>) -> tensor<2x96xf32>
  %b = prim.mul %x, %x : (tensor<2x96xf32>, tensor<2x96xf32>) -> tensor<2x96xf32>
  %c = prim.neg %x : (tensor<2x96xf32>) -> tensor<2x96xf32>
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x96xf32>, tensor<96x192xf32>) -> tensor<2x192xf32>
  %1 = prim.dot_general %many, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<65x96xf32>, tensor<96x192xf32>) -> tensor<65x192xf32>
  %2 = prim.dot_general %y, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<65x96xf32>, tensor<96x192xf32>) -> tensor<65x192xf32>
  %3 = prim.dot_general %z, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<65x96xf32>, tensor<96x192xf32>) -> tensor<65x192xf32>
  %4 = prim.dot_general %x, %odd {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x96xf32>, tensor<96x190xf32>) -> tensor<2x190xf32>
  %5 = prim.dot_general %a, %odd {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x96xf32>, tensor<96x190xf32>) -> tensor<2x190xf32>
  %6 = prim.dot_general %b, %odd {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x96xf32>, tensor<96x190xf32>) -> tensor<2x190xf32>
  %7 = prim.dot_general %c, %odd {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x96xf32>, tensor<96x190xf32>) -> tensor<2x190xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x192xf32>, tensor<65x192xf32>, tensor<65x192xf32>, tensor<65x192xf32>, tensor<2x190xf32>, tensor<2x190xf32>, tensor<2x190xf32>, tensor<2x190xf32>
}
