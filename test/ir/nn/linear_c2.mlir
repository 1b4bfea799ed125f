// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @contracted(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+2 {{'nn.linear' op the contracted extents of x 'tensor<2x3xf32>' and w 'tensor<3x4xf32>' differ}}
  // expected-error@+1 {{'nn.linear' op failed to infer returned types}}
  %r = nn.linear %a, %b {transpose_w = true} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
