// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --fit-memory="budget=22000000" | FileCheck %s
// RUN: accc-opt %s --fit-memory="budget=50000000" | FileCheck %s --check-prefix=PLENTY
// RUN: not accc-opt %s --fit-memory="budget=1000000" 2>&1 | FileCheck %s --check-prefix=LITTLE

// The kernel "center" gives its rows less their mean (4 MB) and the means (4 kB). While the product of
// 1024 x 2048 elements is there, both wait for the last kernel. The rows are computed again, from the input and
// the means, in the kernel that reads them: nothing is reduced a second time, and the first kernel still gives what
// "first" reads.

// LITTLE: error: --memory-budget: step takes {{.*}} MB with all computed again that can be (0 B of variables, {{.*}}), and 1.00 MB are given

// CHECK-LABEL: func.func @step
// CHECK: %[[CENTER:.*]]:2 = prim.fusion {{ *}}reduce "center"(%arg0)
// CHECK: prim.fusion {{ *}}reduce "first"(%[[CENTER]]#0)
// CHECK: prim.dot_general %arg0, %arg1
// CHECK: prim.fusion {{ *}}reduce "narrow"
// CHECK: prim.fusion {{ *}}reduce "{{.*}}"(%arg0, %[[CENTER]]#1, %{{.*}}) : {{.*}} -> tensor<1024xf32> walks
// CHECK: prim.sub
// CHECK-COUNT-1: prim.reduce
// CHECK-NOT: prim.reduce
// PLENTY-COUNT-1: "center"
// PLENTY-NOT: "center"
func.func @step(%x: tensor<1024x1024xf32> {accc.role = #prim.role<input>, accc.name = "x"},
                %w: tensor<1024x2048xf32> {accc.role = #prim.role<input>, accc.name = "w"})
    -> (tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "first"},
        tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "last"}) {
  %c:2 = prim.fusion reduce "center" (%x) : (tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024xf32>) {
  ^bb0(%i: tensor<1024x1024xf32>):
    %m = prim.reduce sum %i {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    %b = prim.broadcast %m {dimensions = array<i64: 0>} : (tensor<1024xf32>) -> tensor<1024x1024xf32>
    %d = prim.sub %i, %b : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    prim.yield %d, %m : tensor<1024x1024xf32>, tensor<1024xf32>
  }
  %first = prim.fusion reduce "first" (%c#0) : (tensor<1024x1024xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %m = prim.reduce max %i {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    prim.yield %m : tensor<1024xf32>
  }
  %wide = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
  %narrow = prim.fusion reduce "narrow" (%wide) : (tensor<1024x2048xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x2048xf32>):
    %m = prim.reduce max %i {dimensions = array<i64: 1>} : (tensor<1024x2048xf32>) -> tensor<1024xf32>
    prim.yield %m : tensor<1024xf32>
  }
  %last = prim.fusion reduce "last" (%c#0, %c#1, %narrow) : (tensor<1024x1024xf32>, tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>, %m: tensor<1024xf32>, %n: tensor<1024xf32>):
    %r = prim.reduce sum %i {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    %s = prim.add %r, %m : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    %t = prim.add %s, %n : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    prim.yield %t : tensor<1024xf32>
  }
  return %first, %last : tensor<1024xf32>, tensor<1024xf32>
}
