// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @shape(%a: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  // expected-error@+2 {{'prim.jacobi_eigh' op 'a' must be [matrices, n, n], but is 'tensor<2x3x4xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r:2 = prim.jacobi_eigh %a : (tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>)
  return %r#0, %r#1 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
}
