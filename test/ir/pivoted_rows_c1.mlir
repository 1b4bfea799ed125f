// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @count(%a: tensor<2x3xi32>) -> tensor<2x2xi64> {
  // expected-error@+2 {{'prim.pivoted_rows' op 'pivots' must be [matrices, exchanges] of up to 2 rows, but is 'tensor<2x3xi32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.pivoted_rows %a {rows = 2 : i64} : (tensor<2x3xi32>) -> tensor<2x2xi64>
  return %r : tensor<2x2xi64>
}
