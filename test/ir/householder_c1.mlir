// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3xf32>) {
  // expected-error@+2 {{'prim.householder' op 'x' must be [matrices, rows, columns], but is 'tensor<3x5xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r:2 = prim.householder %a : (tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3xf32>)
  return %r#0, %r#1 : tensor<3x5xf32>, tensor<3xf32>
}
