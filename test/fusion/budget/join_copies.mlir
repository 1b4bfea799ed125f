// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --fit-memory="budget=26000000" --split-input-file | FileCheck %s

// What "act" gives (4 MB) is computed again behind the product of 1024 x 2048 elements, by the kernel that reads
// the same input: the product that reads it waits for that.

// CHECK-LABEL: func.func @beside
// CHECK: %[[ACT:.*]] = prim.fusion {{ *}}loop "act"(%arg0)
// CHECK: prim.fusion {{ *}}reduce "first"(%[[ACT]])
// CHECK: prim.fusion {{ *}}reduce "narrow"
// CHECK: %[[BOTH:.*]]:2 = prim.fusion {{ *}}loop "{{.*}}"(%arg0, %{{.*}}) {{.*}}walks
// CHECK: prim.exp
// CHECK-NOT: prim.exp
// CHECK: prim.dot_general %[[BOTH]]#0, %arg2
// CHECK: return %{{.*}}, %{{.*}}, %[[BOTH]]#1
func.func @beside(%x: tensor<1024x1024xf32> {accc.role = #prim.role<input>, accc.name = "x"},
                  %w: tensor<1024x2048xf32> {accc.role = #prim.role<input>, accc.name = "w"},
                  %v: tensor<1024x16xf32> {accc.role = #prim.role<input>, accc.name = "v"})
    -> (tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "first"},
        tensor<1024x16xf32> {accc.role = #prim.role<output>, accc.name = "dw"},
        tensor<1024x1024xf32> {accc.role = #prim.role<output>, accc.name = "dx"}) {
  %h = prim.fusion loop "act" (%x) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %e = prim.exp %i : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    prim.yield %e : tensor<1024x1024xf32>
  }
  %first = prim.fusion reduce "first" (%h) : (tensor<1024x1024xf32>) -> tensor<1024xf32> {
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
  %dw = prim.dot_general %h, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x16xf32>) -> tensor<1024x16xf32>
  %dx = prim.fusion loop "gradient" (%x, %narrow) : (tensor<1024x1024xf32>, tensor<1024xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>, %n: tensor<1024xf32>):
    %e = prim.exp %i : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %b = prim.broadcast %n {dimensions = array<i64: 0>} : (tensor<1024xf32>) -> tensor<1024x1024xf32>
    %d = prim.mul %e, %b : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    prim.yield %d : tensor<1024x1024xf32>
  }
  return %first, %dw, %dx : tensor<1024xf32>, tensor<1024x16xf32>, tensor<1024x1024xf32>
}

// -----

// The other kernel needs the product that reads the copy: it cannot be one with it.

// CHECK-LABEL: func.func @between
// CHECK: prim.fusion {{ *}}reduce "narrow"
// CHECK: %[[AGAIN:.*]] = prim.fusion {{ *}}loop "act"(%arg0) {{.*}}walks
// CHECK-NOT: accc.computed_again
// CHECK: prim.dot_general %[[AGAIN]], %arg2
// CHECK: prim.fusion {{ *}}loop "gradient"(%arg0,
func.func @between(%x: tensor<1024x1024xf32> {accc.role = #prim.role<input>, accc.name = "x"},
                   %w: tensor<1024x2048xf32> {accc.role = #prim.role<input>, accc.name = "w"},
                   %v: tensor<1024xf32> {accc.role = #prim.role<input>, accc.name = "v"})
    -> (tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "first"},
        tensor<1024x1024xf32> {accc.role = #prim.role<output>, accc.name = "dx"}) {
  %h = prim.fusion loop "act" (%x) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %e = prim.exp %i : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    prim.yield %e : tensor<1024x1024xf32>
  }
  %first = prim.fusion reduce "first" (%h) : (tensor<1024x1024xf32>) -> tensor<1024xf32> {
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
  %dw = prim.dot_general %h, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %dx = prim.fusion loop "gradient" (%x, %narrow, %dw) : (tensor<1024x1024xf32>, tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>, %n: tensor<1024xf32>, %m: tensor<1024xf32>):
    %s = prim.add %n, %m : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    %b = prim.broadcast %s {dimensions = array<i64: 0>} : (tensor<1024xf32>) -> tensor<1024x1024xf32>
    %d = prim.mul %i, %b : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    prim.yield %d : tensor<1024x1024xf32>
  }
  return %first, %dx : tensor<1024xf32>, tensor<1024x1024xf32>
}

// -----

// As one kernel they would keep 4 MB where another 8 MB are live: there is not so much.

// CHECK-LABEL: func.func @little
// CHECK: prim.fusion {{ *}}loop "gradient"(%arg0,
// CHECK: prim.fusion {{ *}}reduce "narrow"
// CHECK: %[[AGAIN:.*]] = prim.fusion {{ *}}loop "act"(%arg0) {{.*}}walks
// CHECK: prim.dot_general %[[AGAIN]], %arg2
func.func @little(%x: tensor<1024x1024xf32> {accc.role = #prim.role<input>, accc.name = "x"},
                  %w: tensor<1024x2048xf32> {accc.role = #prim.role<input>, accc.name = "w"},
                  %v: tensor<1024x16xf32> {accc.role = #prim.role<input>, accc.name = "v"})
    -> (tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "first"},
        tensor<1024x1024xf32> {accc.role = #prim.role<output>, accc.name = "dx"},
        tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "narrow"},
        tensor<1024x16xf32> {accc.role = #prim.role<output>, accc.name = "dw"}) {
  %h = prim.fusion loop "act" (%x) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %e = prim.exp %i : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    prim.yield %e : tensor<1024x1024xf32>
  }
  %first = prim.fusion reduce "first" (%h) : (tensor<1024x1024xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %m = prim.reduce max %i {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    prim.yield %m : tensor<1024xf32>
  }
  %dx = prim.fusion loop "gradient" (%x, %first) : (tensor<1024x1024xf32>, tensor<1024xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>, %n: tensor<1024xf32>):
    %b = prim.broadcast %n {dimensions = array<i64: 0>} : (tensor<1024xf32>) -> tensor<1024x1024xf32>
    %d = prim.mul %i, %b : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    prim.yield %d : tensor<1024x1024xf32>
  }
  %wide = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x2048xf32>) -> tensor<1024x2048xf32>
  %narrow = prim.fusion reduce "narrow" (%wide) : (tensor<1024x2048xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x2048xf32>):
    %m = prim.reduce max %i {dimensions = array<i64: 1>} : (tensor<1024x2048xf32>) -> tensor<1024xf32>
    prim.yield %m : tensor<1024xf32>
  }
  %dw = prim.dot_general %h, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x16xf32>) -> tensor<1024x16xf32>
  return %first, %dx, %narrow, %dw : tensor<1024xf32>, tensor<1024x1024xf32>, tensor<1024xf32>, tensor<1024x16xf32>
}
