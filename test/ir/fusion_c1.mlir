// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -verify-diagnostics

func.func @arguments(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{the region's arguments have the types ('tensor<4xf32>', 'tensor<4xf32>'), the inputs ('tensor<4xf32>')}}
  %r = prim.fusion loop "wrong" (%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    prim.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
