// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rows(%a: tensor<2x3x3xf32>, %b: tensor<2x4x7xf32>) -> tensor<2x4x7xf32> {
  // expected-error@+2 {{'prim.triangular_solve' op 'a' is 'tensor<2x3x3xf32>' but 'b' 'tensor<2x4x7xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.triangular_solve %a, %b {transpose = true, unit = false, upper = false} : (tensor<2x3x3xf32>, tensor<2x4x7xf32>) -> tensor<2x4x7xf32>
  return %r : tensor<2x4x7xf32>
}
