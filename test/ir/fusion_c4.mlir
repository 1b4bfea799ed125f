// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt --verify-diagnostics --split-input-file %s

func.func @shapes(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  // expected-error @+1 {{'prim.fusion' op gives a 'tensor<2x2xf32>', which has not the shape of its iteration space}}
  %0, %1 = prim.fusion loop "f" (%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>)
      walks <extents = [4], reduced = [], levels = [], depths = [0, 0], in_place = [], accesses = (d0) -> (d0)> {
  ^bb0(%a: tensor<4xf32>):
    %b = prim.neg %a : (tensor<4xf32>) -> tensor<4xf32>
    %c = prim.reshape %b : (tensor<4xf32>) -> tensor<2x2xf32>
    prim.yield %b, %c : tensor<4xf32>, tensor<2x2xf32>
  }
  return %0, %1 : tensor<4xf32>, tensor<2x2xf32>
}

// -----

func.func @levels(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @+1 {{'prim.fusion' op has 1 reductions and 1 results, its spec speaks of 0 and 1}}
  %0 = prim.fusion reduce "f" (%x) : (tensor<4xf32>) -> tensor<f32>
      walks <extents = [4], reduced = [0], levels = [], depths = [1], in_place = [], accesses = (d0) -> (d0)> {
  ^bb0(%a: tensor<4xf32>):
    %b = prim.reduce sum %a {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    prim.yield %b : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

func.func @spaces(%x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  // expected-error @+1 {{'prim.fusion' op has reductions over different spaces}}
  %0, %1 = prim.fusion reduce "f" (%x) : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<3xf32>)
      walks <extents = [2, 3], reduced = [1], levels = [0, 0], depths = [1, 1], in_place = [], accesses = (d0, d1) -> (d1 + d0 * 3)> {
  ^bb0(%a: tensor<2x3xf32>):
    %b = prim.reduce sum %a {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
    %c = prim.reduce sum %a {dimensions = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
    prim.yield %b, %c : tensor<2xf32>, tensor<3xf32>
  }
  return %0, %1 : tensor<2xf32>, tensor<3xf32>
}

// -----

// Rows, and strips of two of them, of which nothing else may be computed.
func.func @strips(%x: tensor<4x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>) {
  // expected-error @+1 {{'prim.fusion' op reads what it reduces of several rows}}
  %0, %1 = prim.fusion reduce "f" (%x) : (tensor<4x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>)
      walks <extents = [4, 3], reduced = [1], levels = [0, 0], depths = [1, 1], in_place = [], accesses = (d0, d1) -> (d1 + d0 * 3)> {
  ^bb0(%a: tensor<4x3xf32>):
    %b = prim.reduce sum %a {dimensions = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4xf32>
    %c = prim.reshape %a : (tensor<4x3xf32>) -> tensor<2x2x3xf32>
    %d = prim.reduce sum %c {dimensions = array<i64: 1>} : (tensor<2x2x3xf32>) -> tensor<2x3xf32>
    %e = prim.neg %d : (tensor<2x3xf32>) -> tensor<2x3xf32>
    prim.yield %b, %e : tensor<4xf32>, tensor<2x3xf32>
  }
  return %0, %1 : tensor<4xf32>, tensor<2x3xf32>
}
