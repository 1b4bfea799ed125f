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

// Panels of what is made of panels itself.
// CHECK-LABEL: @product_of_products
// CHECK-COUNT-2: prim.transpose
// CHECK-NOT: prim.transpose
// CHECK: return
func.func @product_of_products(%w: tensor<512x1024xf32>, %x0: tensor<16x512xf32>, %x1: tensor<16x512xf32>, %x2: tensor<16x512xf32>, %x3: tensor<16x512xf32>, %y0: tensor<2x16xf32>, %y1: tensor<2x16xf32>, %y2: tensor<2x16xf32>, %y3: tensor<2x16xf32>) -> (tensor<2x1024xf32>, tensor<2x1024xf32>, tensor<2x1024xf32>, tensor<2x1024xf32>, tensor<16x1024xf32>, tensor<16x1024xf32>, tensor<16x1024xf32>) {
  %h0 = prim.dot_general %x0, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<16x512xf32>, tensor<512x1024xf32>) -> tensor<16x1024xf32>
  %h1 = prim.dot_general %x1, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<16x512xf32>, tensor<512x1024xf32>) -> tensor<16x1024xf32>
  %h2 = prim.dot_general %x2, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<16x512xf32>, tensor<512x1024xf32>) -> tensor<16x1024xf32>
  %h3 = prim.dot_general %x3, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<16x512xf32>, tensor<512x1024xf32>) -> tensor<16x1024xf32>
  %q0 = prim.dot_general %y0, %h0 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x16xf32>, tensor<16x1024xf32>) -> tensor<2x1024xf32>
  %q1 = prim.dot_general %y1, %h0 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x16xf32>, tensor<16x1024xf32>) -> tensor<2x1024xf32>
  %q2 = prim.dot_general %y2, %h0 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x16xf32>, tensor<16x1024xf32>) -> tensor<2x1024xf32>
  %q3 = prim.dot_general %y3, %h0 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x16xf32>, tensor<16x1024xf32>) -> tensor<2x1024xf32>
  return %q0, %q1, %q2, %q3, %h1, %h2, %h3 : tensor<2x1024xf32>, tensor<2x1024xf32>, tensor<2x1024xf32>, tensor<2x1024xf32>, tensor<16x1024xf32>, tensor<16x1024xf32>, tensor<16x1024xf32>
}
