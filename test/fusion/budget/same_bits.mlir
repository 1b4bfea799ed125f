// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not accc-opt %s --fit-memory="budget=32000000" 2>&1 | FileCheck %s
// RUN: accc-opt %s --fit-memory="budget=36000000" | FileCheck %s --check-prefix=FITS

// The kernel "sums" adds up rows of four (4 MB), and "greatest" finds the greatest sum of each row. While a product of
// 1024 x 2048 elements is there, the sums wait for the last kernel. A kernel that computes them again may add in another
// order, and the greatest is none of them then.

// What subtracts it may have them computed again.
// CHECK-NOT: subtracted
func.func @subtracted(%x: tensor<1024x1024x4xf32> {accc.role = #prim.role<input>, accc.name = "x"},
                %y: tensor<1024x512xf32> {accc.role = #prim.role<input>, accc.name = "y"},
                %w: tensor<512x2048xf32> {accc.role = #prim.role<input>, accc.name = "w"})
    -> (tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "narrow"},
        tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "last"}) {
  %a = prim.fusion reduce "sums" (%x) : (tensor<1024x1024x4xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%i: tensor<1024x1024x4xf32>):
    %s = prim.reduce sum %i {dimensions = array<i64: 2>} : (tensor<1024x1024x4xf32>) -> tensor<1024x1024xf32>
    prim.yield %s : tensor<1024x1024xf32>
  }
  %m = prim.fusion reduce "greatest" (%a) : (tensor<1024x1024xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %s = prim.reduce max %i {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    prim.yield %s : tensor<1024xf32>
  }
  %wide = prim.dot_general %y, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x512xf32>, tensor<512x2048xf32>) -> tensor<1024x2048xf32>
  %narrow = prim.fusion reduce "narrow" (%wide) : (tensor<1024x2048xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x2048xf32>):
    %s = prim.reduce max %i {dimensions = array<i64: 1>} : (tensor<1024x2048xf32>) -> tensor<1024xf32>
    prim.yield %s : tensor<1024xf32>
  }
  %last = prim.fusion reduce "last" (%a, %m) : (tensor<1024x1024xf32>, tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>, %g: tensor<1024xf32>):
    %b = prim.broadcast %g {dimensions = array<i64: 0>} : (tensor<1024xf32>) -> tensor<1024x1024xf32>
    %d = prim.sub %i, %b : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %s = prim.reduce sum %d {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    prim.yield %s : tensor<1024xf32>
  }
  return %narrow, %last : tensor<1024xf32>, tensor<1024xf32>
}

// What looks for it may not.
// CHECK: error: --memory-budget: compared takes 35.70 MB with all computed again that can be
func.func @compared(%x: tensor<1024x1024x4xf32> {accc.role = #prim.role<input>, accc.name = "x"},
                %y: tensor<1024x512xf32> {accc.role = #prim.role<input>, accc.name = "y"},
                %w: tensor<512x2048xf32> {accc.role = #prim.role<input>, accc.name = "w"})
    -> (tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "narrow"},
        tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "last"}) {
  %a = prim.fusion reduce "sums" (%x) : (tensor<1024x1024x4xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%i: tensor<1024x1024x4xf32>):
    %s = prim.reduce sum %i {dimensions = array<i64: 2>} : (tensor<1024x1024x4xf32>) -> tensor<1024x1024xf32>
    prim.yield %s : tensor<1024x1024xf32>
  }
  %m = prim.fusion reduce "greatest" (%a) : (tensor<1024x1024xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %s = prim.reduce max %i {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    prim.yield %s : tensor<1024xf32>
  }
  %wide = prim.dot_general %y, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x512xf32>, tensor<512x2048xf32>) -> tensor<1024x2048xf32>
  %narrow = prim.fusion reduce "narrow" (%wide) : (tensor<1024x2048xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x2048xf32>):
    %s = prim.reduce max %i {dimensions = array<i64: 1>} : (tensor<1024x2048xf32>) -> tensor<1024xf32>
    prim.yield %s : tensor<1024xf32>
  }
  %last = prim.fusion reduce "last" (%a, %m) : (tensor<1024x1024xf32>, tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>, %g: tensor<1024xf32>):
    %b = prim.broadcast %g {dimensions = array<i64: 0>} : (tensor<1024xf32>) -> tensor<1024x1024xf32>
    %e = prim.compare eq %i, %b : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xi1>
    %d = prim.convert %e : (tensor<1024x1024xi1>) -> tensor<1024x1024xf32>
    %s = prim.reduce sum %d {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    prim.yield %s : tensor<1024xf32>
  }
  return %narrow, %last : tensor<1024xf32>, tensor<1024xf32>
}

// Nor may what was found before be found again (1 MB).
// CHECK: error: --memory-budget: found takes 32.60 MB with all computed again that can be
func.func @found(%x: tensor<1024x1024x4xf32> {accc.role = #prim.role<input>, accc.name = "x"},
                %y: tensor<1024x512xf32> {accc.role = #prim.role<input>, accc.name = "y"},
                %w: tensor<512x2048xf32> {accc.role = #prim.role<input>, accc.name = "w"})
    -> (tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "narrow"},
        tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "last"}) {
  %a = prim.fusion reduce "sums" (%x) : (tensor<1024x1024x4xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%i: tensor<1024x1024x4xf32>):
    %s = prim.reduce sum %i {dimensions = array<i64: 2>} : (tensor<1024x1024x4xf32>) -> tensor<1024x1024xf32>
    prim.yield %s : tensor<1024x1024xf32>
  }
  %m = prim.fusion reduce "greatest" (%a) : (tensor<1024x1024xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %s = prim.reduce max %i {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    prim.yield %s : tensor<1024xf32>
  }
  %f = prim.fusion loop "find" (%a, %m) : (tensor<1024x1024xf32>, tensor<1024xf32>) -> tensor<1024x1024xi1> {
  ^bb0(%i: tensor<1024x1024xf32>, %g: tensor<1024xf32>):
    %b = prim.broadcast %g {dimensions = array<i64: 0>} : (tensor<1024xf32>) -> tensor<1024x1024xf32>
    %e = prim.compare eq %i, %b : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xi1>
    prim.yield %e : tensor<1024x1024xi1>
  }
  %wide = prim.dot_general %y, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x512xf32>, tensor<512x2048xf32>) -> tensor<1024x2048xf32>
  %narrow = prim.fusion reduce "narrow" (%wide) : (tensor<1024x2048xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x2048xf32>):
    %s = prim.reduce max %i {dimensions = array<i64: 1>} : (tensor<1024x2048xf32>) -> tensor<1024xf32>
    prim.yield %s : tensor<1024xf32>
  }
  %last = prim.fusion reduce "last" (%f) : (tensor<1024x1024xi1>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x1024xi1>):
    %d = prim.convert %i : (tensor<1024x1024xi1>) -> tensor<1024x1024xf32>
    %s = prim.reduce sum %d {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    prim.yield %s : tensor<1024xf32>
  }
  return %narrow, %last : tensor<1024xf32>, tensor<1024xf32>
}

// The squares, of which the greatest is looked for, are computed again from the sums, but not from sums that were
// computed again for "first" and "second".
// FITS-LABEL: func.func @squares
// FITS: %[[SUMS:.*]] = prim.fusion {{ *}}reduce "sums"
// FITS: %[[SQUARES:.*]] = prim.fusion {{ *}}loop "square"
// FITS: %[[GREATEST:.*]] = prim.fusion {{ *}}reduce "greatest"(%[[SQUARES]])
// FITS: prim.fusion {{ *}}reduce "mul_reduce"(%[[SUMS]], %[[GREATEST]])
// CHECK: error: --memory-budget: squares takes 35.70 MB with all computed again that can be
func.func @squares(%x: tensor<1024x1024x4xf32> {accc.role = #prim.role<input>, accc.name = "x"},
                %y: tensor<1024x512xf32> {accc.role = #prim.role<input>, accc.name = "y"},
                %w: tensor<512x2048xf32> {accc.role = #prim.role<input>, accc.name = "w"})
    -> (tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "narrow"},
        tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "first"},
        tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "last"},
        tensor<1024xf32> {accc.role = #prim.role<output>, accc.name = "second"}) {
  %a = prim.fusion reduce "sums" (%x) : (tensor<1024x1024x4xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%i: tensor<1024x1024x4xf32>):
    %s = prim.reduce sum %i {dimensions = array<i64: 2>} : (tensor<1024x1024x4xf32>) -> tensor<1024x1024xf32>
    prim.yield %s : tensor<1024x1024xf32>
  }
  %z = prim.fusion loop "square" (%a) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %s = prim.mul %i, %i : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    prim.yield %s : tensor<1024x1024xf32>
  }
  %m = prim.fusion reduce "greatest" (%z) : (tensor<1024x1024xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %s = prim.reduce max %i {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    prim.yield %s : tensor<1024xf32>
  }
  %wide = prim.dot_general %y, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x512xf32>, tensor<512x2048xf32>) -> tensor<1024x2048xf32>
  %narrow = prim.fusion reduce "narrow" (%wide) : (tensor<1024x2048xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x2048xf32>):
    %s = prim.reduce max %i {dimensions = array<i64: 1>} : (tensor<1024x2048xf32>) -> tensor<1024xf32>
    prim.yield %s : tensor<1024xf32>
  }
  %first = prim.fusion reduce "first" (%a) : (tensor<1024x1024xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %s = prim.reduce sum %i {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    prim.yield %s : tensor<1024xf32>
  }
  %last = prim.fusion reduce "last" (%z, %m) : (tensor<1024x1024xf32>, tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>, %g: tensor<1024xf32>):
    %b = prim.broadcast %g {dimensions = array<i64: 0>} : (tensor<1024xf32>) -> tensor<1024x1024xf32>
    %e = prim.compare eq %i, %b : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xi1>
    %d = prim.convert %e : (tensor<1024x1024xi1>) -> tensor<1024x1024xf32>
    %s = prim.reduce sum %d {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    prim.yield %s : tensor<1024xf32>
  }
  %second = prim.fusion reduce "second" (%a) : (tensor<1024x1024xf32>) -> tensor<1024xf32> {
  ^bb0(%i: tensor<1024x1024xf32>):
    %s = prim.reduce sum %i {dimensions = array<i64: 1>} : (tensor<1024x1024xf32>) -> tensor<1024xf32>
    prim.yield %s : tensor<1024xf32>
  }
  return %narrow, %first, %last, %second : tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>
}
