// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -verify-diagnostics

func.func @counts(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error@+1 {{has 1 inputs and 2 outputs, the region 1 and 1}}
  %r:2 = prim.fusion_each "wrong" (%a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%x: tensor<1073741824xf32>):
    prim.yield %x : tensor<1073741824xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
