// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// UNSUPPORTED: small-thresholds
// RUN: accc-opt --form-fusions --combine-collectives %s | FileCheck %s

// Gradients are sent together, as soon as the last of them is there, and before what follows that.
// CHECK-LABEL: @bucket
// CHECK: %[[B:.*]] = prim.dot_general
// CHECK-NEXT: %[[A:.*]] = prim.dot_general
// CHECK-NEXT: %[[R:.*]]:2 = prim.all_reduce %[[B]], %[[A]]
// CHECK-NEXT: prim.fusion loop "exp"
// CHECK: prim.fusion loop "neg"(%[[R]]#1)
// CHECK: prim.fusion loop "neg"(%[[R]]#0)
func.func @bucket(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %b = prim.dot_general %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = prim.dot_general %b, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = prim.exp %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %ra = prim.all_reduce %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %na = prim.neg %ra : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %rb = prim.all_reduce %b : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %nb = prim.neg %rb : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %e, %na, %nb : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// Not together: other types of elements, another collective, one that needs the other.
// CHECK-LABEL: @apart
// CHECK-DAG: prim.all_reduce %arg0 : (tensor<4xf32>)
// CHECK-DAG: prim.all_reduce %arg1 : (tensor<4xf64>)
// CHECK-DAG: prim.broadcast_from %arg2
// CHECK: prim.all_reduce %{{.*}} : (tensor<4xf32>)
func.func @apart(%a: tensor<4xf32>, %b: tensor<4xf64>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf64>, tensor<4xf32>) {
  %0 = prim.all_reduce %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.all_reduce %b : (tensor<4xf64>) -> tensor<4xf64>
  %2 = prim.broadcast_from %c : (tensor<4xf32>) -> tensor<4xf32>
  %3 = prim.all_reduce %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %3, %1, %2 : tensor<4xf32>, tensor<4xf64>, tensor<4xf32>
}

// A bucket is full at 25 MiB.
// CHECK-LABEL: @full
// CHECK: prim.all_reduce %arg2, %arg1 :
// CHECK: prim.all_reduce %arg0 :
func.func @full(%c: tensor<4xf32>, %b: tensor<4194304xf32>, %a: tensor<4194304xf32>) -> (tensor<4194304xf32>, tensor<4194304xf32>, tensor<4xf32>) {
  %2 = prim.all_reduce %c : (tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.all_reduce %b : (tensor<4194304xf32>) -> tensor<4194304xf32>
  %0 = prim.all_reduce %a : (tensor<4194304xf32>) -> tensor<4194304xf32>
  return %0, %1, %2 : tensor<4194304xf32>, tensor<4194304xf32>, tensor<4xf32>
}

// What another collective waits for goes ahead of gradients, which are together though they are not computed at one
// place: %a before %s, %b behind it.
// CHECK-LABEL: @middle
// CHECK: %[[S:.*]] = prim.all_reduce %arg1 {sum}
// CHECK: %[[B:.*]] = prim.fusion loop "exp"(%[[S]])
// CHECK: prim.all_reduce %[[B]] {sum}
// CHECK: %[[G:.*]]:2 = prim.all_reduce %
func.func @middle(%x: tensor<4xf32>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = prim.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = prim.all_reduce %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.all_reduce %s {sum} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = prim.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = prim.all_reduce %2 {sum} : (tensor<4xf32>) -> tensor<4xf32>
  %b = prim.sub %3, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = prim.all_reduce %b : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Statistics that another collective waits for stay single, in the order of their numbers, though one kernel may compute
// several; a later one that an earlier one waits for is sent before it.
// CHECK-LABEL: @statistics
// CHECK: prim.all_reduce %arg0 {sum} :
// CHECK-NEXT: prim.all_reduce %arg1 {sum} :
// CHECK: prim.all_reduce %{{.*}} {sum} :
func.func @statistics(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %1 = prim.all_reduce %y {accc.exchange = 1 : i64, sum} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = prim.all_reduce %x {accc.exchange = 0 : i64, sum} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = prim.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = prim.all_reduce %2 {accc.exchange = 2 : i64, sum} : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
// CHECK-LABEL: @waiting
// CHECK: %[[Y:.*]] = prim.all_reduce %arg1 {sum} :
// CHECK: prim.all_reduce %{{.*}} {sum} :
// CHECK: prim.all_reduce %{{.*}} {sum} :
func.func @waiting(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %1 = prim.all_reduce %y {accc.exchange = 1 : i64, sum} : (tensor<4xf32>) -> tensor<4xf32>
  %s = prim.sub %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = prim.all_reduce %s {accc.exchange = 0 : i64, sum} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = prim.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = prim.all_reduce %2 {accc.exchange = 2 : i64, sum} : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// When a gradient is computed depends on sizes, which processes may have others of: numbers decide what is sent as what,
// and that a bucket does not go before another that is computed later.
// CHECK-LABEL: @numbered
// CHECK: prim.fusion loop "exp"
// CHECK: %[[LAST:.*]] = prim.dot_general
// CHECK-NEXT: prim.all_reduce %[[LAST]] :
// CHECK-NEXT: prim.all_reduce %arg1, %arg0 :
func.func @numbered(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %z: tensor<2048x4xf32>, %w: tensor<4x4096xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<2048x4096xf32>) {
  %0 = prim.all_reduce %x {accc.exchange = 0 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = prim.exp %z : (tensor<2048x4xf32>) -> tensor<2048x4xf32>
  %g = prim.dot_general %e, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<2048x4xf32>, tensor<4x4096xf32>) -> tensor<2048x4096xf32>
  %2 = prim.all_reduce %g {accc.exchange = 2 : i64} : (tensor<2048x4096xf32>) -> tensor<2048x4096xf32>
  %1 = prim.all_reduce %y {accc.exchange = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<2048x4096xf32>
}
