// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3xi32>, tensor<3xi32>) {
  // expected-error@+2 {{'prim.lu' op 'a' must be [matrices, rows, columns], but is 'tensor<3x4xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r:3 = prim.lu %a {check_errors = true} : (tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3xi32>, tensor<3xi32>)
  return %r#0, %r#1, %r#2 : tensor<3x4xf32>, tensor<3xi32>, tensor<3xi32>
}
