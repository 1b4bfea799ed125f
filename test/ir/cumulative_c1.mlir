// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @range(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'prim.cumulative' op 'dimension' is 2, out of range for rank 2}}
  %r = prim.cumulative sum %a {dimension = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
