// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --form-fusions --fit-memory="budget=26000000" | FileCheck %s

// The last kernel writes 8 MB over what it reads. With what the first gives, twice 4 MB that wait for the last
// products, that is 16 MB, and 13 MB are inputs and outputs: 26 MB will do once one value is computed again, the cheaper.

// CHECK-LABEL: func.func @step
// CHECK: %[[BOTH:.*]]:2 = prim.fusion {{ *}}loop "exp_neg"(%arg0)
// CHECK: prim.fusion {{ *}}loop "exp"({{.*}}in_place = [0]
// CHECK: prim.dot_general %[[BOTH]]#0
// CHECK: prim.fusion {{ *}}loop "exp_neg"(%arg0)
// CHECK-NOT: prim.exp
// CHECK: return
func.func @step(%x: tensor<1024x1024xf32> {accc.role = #prim.role<input>, accc.name = "x"},
                %w: tensor<1024x2048xf32> {accc.role = #prim.role<input>, accc.name = "w"})
    -> (tensor<1024x4xf32> {accc.role = #prim.role<output>, accc.name = "first"},
        tensor<1024x4xf32> {accc.role = #prim.role<output>, accc.name = "narrow"},
        tensor<1024x4xf32> {accc.role = #prim.role<output>, accc.name = "last"}) {
  %u = prim.constant dense<0.5> : tensor<2048x4xf32>
  %v = prim.constant dense<0.5> : tensor<1024x4xf32>
  %e = prim.exp %x : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %n = prim.neg %x : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %ev = prim.dot_general %e, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  %first = prim.dot_general %n, %ev {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  %wide = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
  %over = prim.exp %wide : (tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
  %narrow = prim.dot_general %over, %u {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x2048xf32>, tensor<2048x4xf32>) -> tensor<1024x4xf32>
  %en = prim.dot_general %e, %narrow {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  %last = prim.dot_general %n, %en {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  return %first, %narrow, %last : tensor<1024x4xf32>, tensor<1024x4xf32>, tensor<1024x4xf32>
}
