// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @bias(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<3xf32>) -> tensor<2x4xf32> {
  // expected-error@+2 {{'nn.linear' op bias of type 'tensor<3xf32>' does not have 4 elements}}
  // expected-error@+1 {{'nn.linear' op failed to infer returned types}}
  %r = nn.linear %a, %b bias %c {transpose_w = false} : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
