// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @indices(%a: tensor<2x3xf32>, %b: tensor<3xi64>) -> tensor<f32> {
  // expected-error@+2 {{'nn.nll_loss' op target of type 'tensor<3xi64>' does not fit scores of type 'tensor<2x3xf32>': expected the shape without the classes}}
  // expected-error@+1 {{'nn.nll_loss' op failed to infer returned types}}
  %r = nn.nll_loss %a, %b {reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<f32>
  return %r : tensor<f32>
}
