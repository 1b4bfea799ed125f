// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @range(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{'prim.concatenate' op 'dimension' is 1, out of range for rank 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.concatenate %a, %b {dimension = 1 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
