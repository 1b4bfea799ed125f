// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @range(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>) {
  // expected-error@+2 {{'prim.merge' op 'dimension' is 2, out of range for rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %r:2 = prim.merge %a {descending = true, dimension = 2 : i64, run = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xi64>
}
