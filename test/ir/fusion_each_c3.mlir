// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @not_flat(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{the region does not end in prim.yield of flat tensors}}
  %r = prim.fusion_each "wrong" (%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    prim.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @not_elementwise(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = prim.fusion_each "wrong" (%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<1073741824xf32>):
    // expected-error@+1 {{is not elementwise on flat tensors, as in a prim.fusion_each}}
    %y = prim.reverse %x {dimensions = array<i64: 0>} : (tensor<1073741824xf32>) -> tensor<1073741824xf32>
    prim.yield %y : tensor<1073741824xf32>
  }
  return %r : tensor<4xf32>
}
