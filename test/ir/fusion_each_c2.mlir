// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @elements(%a: tensor<4xf32>, %b: tensor<5xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{segment 0 reads a 'tensor<5xf32>', the region takes a 'tensor<1073741824xf32>'}}
  %r = prim.fusion_each "wrong" (%a, %b) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<1073741824xf32>, %y: tensor<1073741824xf32>):
    prim.yield %x : tensor<1073741824xf32>
  }
  return %r : tensor<4xf32>
}

// -----

func.func @type(%a: tensor<4xf32>) -> tensor<4xi32> {
  // expected-error@+1 {{segment 0 gives a 'tensor<4xi32>', the region yields a 'tensor<1073741824xf32>'}}
  %r = prim.fusion_each "wrong" (%a) : (tensor<4xf32>) -> tensor<4xi32> {
  ^bb0(%x: tensor<1073741824xf32>):
    prim.yield %x : tensor<1073741824xf32>
  }
  return %r : tensor<4xi32>
}
