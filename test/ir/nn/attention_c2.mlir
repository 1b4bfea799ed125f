// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @mask(%a: tensor<1x2x3x4xf32>, %b: tensor<1x2x3x4xf32>, %c: tensor<1x2x3x4xf32>, %d: tensor<4x3xi1>) -> tensor<1x2x3x4xf32> {
  // expected-error@+2 {{'nn.attention' op mask of type 'tensor<4x3xi1>' does not broadcast to the scores of q 'tensor<1x2x3x4xf32>' and k 'tensor<1x2x3x4xf32>'}}
  // expected-error@+1 {{'nn.attention' op failed to infer returned types}}
  %r = nn.attention %a, %b, %c mask %d {causal = false, scale = 1.0} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<4x3xi1>) -> tensor<1x2x3x4xf32>
  return %r : tensor<1x2x3x4xf32>
}
