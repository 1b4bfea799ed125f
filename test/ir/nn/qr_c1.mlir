// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<3x5xf32>) -> (tensor<3x3xf32>, tensor<3x5xf32>) {
  // expected-error@+2 {{'nn.qr' op a of type 'tensor<3x5xf32>' is not [matrices, m, n]}}
  // expected-error@+1 {{failed to infer returned types}}
  %r:2 = nn.qr %a {complete = false} : (tensor<3x5xf32>) -> (tensor<3x3xf32>, tensor<3x5xf32>)
  return %r#0, %r#1 : tensor<3x3xf32>, tensor<3x5xf32>
}
