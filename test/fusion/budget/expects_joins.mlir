// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --fit-memory="budget=36000000" | FileCheck %s

// Either what "of_q" or what "of_p" gives, 4 MB each, is not kept. Computed by a kernel of its own, each is read, too: 8 MB. But
// the last kernel reads %p and can give its exponentials as well; %q is read by a product.

// CHECK-LABEL: func.func @step
// CHECK: %[[OF_Q:.*]] = prim.fusion {{ *}}loop "of_q"
// CHECK: prim.fusion {{ *}}loop "of_p"
// CHECK-NOT: "of_q"
// CHECK: %[[LAST:.*]]:2 = prim.fusion {{ *}}reduce
// CHECK: prim.exp
// CHECK: prim.reduce
// CHECK: prim.dot_general %[[LAST]]#0
// CHECK: prim.dot_general %[[OF_Q]]
func.func @step(%x: tensor<1024x1024xf32> {accc.role = #prim.role<input>, accc.name = "x"},
                %w: tensor<1024x2048xf32> {accc.role = #prim.role<input>, accc.name = "w"})
    -> (tensor<1024x4xf32> {accc.role = #prim.role<output>, accc.name = "first"},
        tensor<1024x4xf32> {accc.role = #prim.role<output>, accc.name = "narrow_q"},
        tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "rows_p"},
        tensor<1024x4xf32> {accc.role = #prim.role<output>, accc.name = "last"}) {
  %u = prim.constant dense<0.5> : tensor<2048x4xf32>
  %v = prim.constant dense<0.5> : tensor<1024x4xf32>
  %q = prim.dot_general %x, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %p = prim.dot_general %x, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_contracting = array<i64: 1>} : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %b = prim.fusion loop "of_q" (%q) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %e = prim.exp %i : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    prim.yield %e : tensor<1024x1024xf32>
  }
  %a = prim.fusion loop "of_p" (%p) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %e = prim.exp %i : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    prim.yield %e : tensor<1024x1024xf32>
  }
  %bv = prim.dot_general %b, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  %first = prim.dot_general %a, %bv {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  %wide = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
  %narrow = prim.dot_general %wide, %u {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x2048xf32>, tensor<2048x4xf32>) -> tensor<1024x4xf32>
  %an = prim.dot_general %a, %narrow {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  %last = prim.dot_general %b, %an {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  %narrow_q = prim.dot_general %q, %last {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  %most = prim.fusion reduce "most" (%narrow) : (tensor<1024x4xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x4xf32>):
    %m = prim.reduce max %i {dimensions = array<i64: 1>} : (tensor<1024x4xf32>) -> tensor<1024xf32>
    prim.yield %m : tensor<1024xf32>
  }
  %rows_p = prim.fusion reduce "late" (%p, %most) : (tensor<1024x1024xf32>, tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>, %m: tensor<1024xf32>):
    %factor = prim.broadcast %m {dimensions = array<i64: 0>} : (tensor<1024xf32>) -> tensor<1024x1024xf32>
    %scaled = prim.mul %i, %factor : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %sum = prim.reduce sum %scaled {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    prim.yield %sum : tensor<1024xf32>
  }
  return %first, %narrow_q, %rows_p, %last : tensor<1024x4xf32>, tensor<1024x4xf32>, tensor<1024xf32>, tensor<1024x4xf32>
}
