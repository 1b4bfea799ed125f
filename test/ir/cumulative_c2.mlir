// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @kind(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'prim.cumulative' op 'kind' must be sum, prod, max or min, but is all}}
  %r = prim.cumulative all %a {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
