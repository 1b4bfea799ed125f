// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @contracted(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+2 {{'nn.matmul' op the contracted extents of 'tensor<2x3xf32>' and 'tensor<4x3xf32>' differ}}
  // expected-error@+1 {{'nn.matmul' op failed to infer returned types}}
  %r = nn.matmul %a, %b : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
