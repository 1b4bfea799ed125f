// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -verify-diagnostics

func.func @results(%a: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error@+1 {{the region yields the types ('tensor<4xf32>'), the results have ('tensor<4xf64>')}}
  %r = prim.fusion loop "wrong" (%a) : (tensor<4xf32>) -> tensor<4xf64> {
  ^bb0(%x: tensor<4xf32>):
    prim.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf64>
}
