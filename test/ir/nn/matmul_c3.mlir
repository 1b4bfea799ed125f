// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @batch(%a: tensor<2x2x3xf32>, %b: tensor<3x3x4xf32>) -> tensor<3x2x4xf32> {
  // expected-error@+2 {{'nn.matmul' op the batch dimensions of 'tensor<2x2x3xf32>' and 'tensor<3x3x4xf32>' do not broadcast}}
  // expected-error@+1 {{'nn.matmul' op failed to infer returned types}}
  %r = nn.matmul %a, %b : (tensor<2x2x3xf32>, tensor<3x3x4xf32>) -> tensor<3x2x4xf32>
  return %r : tensor<3x2x4xf32>
}
