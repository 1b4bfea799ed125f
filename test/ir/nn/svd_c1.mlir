// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<3x5xf32>) -> (tensor<3x3xf32>, tensor<3xf32>, tensor<3x5xf32>) {
  // expected-error@+2 {{'nn.svd' op a of type 'tensor<3x5xf32>' is not [matrices, m, n]}}
  // expected-error@+1 {{failed to infer returned types}}
  %r:3 = nn.svd %a {full = false} : (tensor<3x5xf32>) -> (tensor<3x3xf32>, tensor<3xf32>, tensor<3x5xf32>)
  return %r#0, %r#1, %r#2 : tensor<3x3xf32>, tensor<3xf32>, tensor<3x5xf32>
}
