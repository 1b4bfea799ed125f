// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --fit-memory="budget=57000000" | FileCheck %s
// RUN: accc-opt %s --fit-memory="budget=50000000" | FileCheck %s --check-prefix=MUCH

// 4 MB of exponentials and 17 MB of negated elements are kept. For each byte the latter are cheaper, but where 2 MB are missing
// the former will do. Where more are, what reads the negated elements first waits for them, too.

// CHECK-LABEL: func.func @step
// CHECK: "exponentials"
// CHECK: "negated"
// CHECK-NOT: "negated"
// CHECK: "exponentials"
// CHECK-NOT: "negated"
// CHECK: return
// MUCH-LABEL: func.func @step
// MUCH: prim.exp
// MUCH-NOT: prim.neg
// MUCH: prim.dot_general %arg0, %arg2
// MUCH-NOT: prim.exp
// MUCH: prim.neg
// MUCH: return
func.func @step(%x: tensor<1024x1024xf32> {accc.role = #prim.role<input>, accc.name = "x"},
                %z: tensor<1024x4096xf32> {accc.role = #prim.role<input>, accc.name = "z"},
                %w: tensor<1024x2048xf32> {accc.role = #prim.role<input>, accc.name = "w"})
    -> (tensor<1024x4xf32> {accc.role = #prim.role<output>, accc.name = "first"},
        tensor<1024x4xf32> {accc.role = #prim.role<output>, accc.name = "second"},
        tensor<1024x4xf32> {accc.role = #prim.role<output>, accc.name = "third"},
        tensor<1024x4xf32> {accc.role = #prim.role<output>, accc.name = "last"}) {
  %u = prim.constant dense<0.5> : tensor<2048x4xf32>
  %v = prim.constant dense<0.5> : tensor<1024x4xf32>
  %t = prim.constant dense<0.5> : tensor<4096x4xf32>
  %e = prim.fusion loop "exponentials" (%x) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %r = prim.exp %i : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    prim.yield %r : tensor<1024x1024xf32>
  }
  %n = prim.fusion loop "negated" (%z) : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32> {
  ^bb0(%i: tensor<1024x4096xf32>):
    %r = prim.neg %i : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    prim.yield %r : tensor<1024x4096xf32>
  }
  %first = prim.dot_general %e, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  %second = prim.dot_general %n, %t {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x4096xf32>, tensor<4096x4xf32>) -> tensor<1024x4xf32>
  %wide = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
  %narrow = prim.dot_general %wide, %u {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x2048xf32>, tensor<2048x4xf32>) -> tensor<1024x4xf32>
  %third = prim.dot_general %e, %narrow {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  %columns = prim.dot_general %n, %third {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_contracting = array<i64: 0>} : (tensor<1024x4096xf32>, tensor<1024x4xf32>) -> tensor<4096x4xf32>
  %last = prim.dot_general %n, %columns {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x4096xf32>, tensor<4096x4xf32>) -> tensor<1024x4xf32>
  return %first, %second, %third, %last : tensor<1024x4xf32>, tensor<1024x4xf32>, tensor<1024x4xf32>, tensor<1024x4xf32>
}
