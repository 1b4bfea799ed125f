// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -verify-diagnostics

func.func @no_yield(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{the region does not end in prim.yield}}
  %r = prim.fusion loop "wrong" (%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    %y = prim.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
