// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @nothing(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>) {
  // expected-error@+2 {{'prim.merge' op 'run' is 0, but must be positive}}
  // expected-error@+1 {{failed to infer returned types}}
  %r:2 = prim.merge %a {descending = true, dimension = 1 : i64, run = 0 : i64} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xi64>
}
