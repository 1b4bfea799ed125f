// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @weight(%a: tensor<2x3xf32>, %b: tensor<2xi64>, %c: tensor<2xf32>) -> tensor<f32> {
  // expected-error@+2 {{'nn.nll_loss' op weight of type 'tensor<2xf32>' is not one 'f32' for each of the 3 classes}}
  // expected-error@+1 {{'nn.nll_loss' op failed to infer returned types}}
  %r = nn.nll_loss %a, %b weight %c {reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<f32>
  return %r : tensor<f32>
}
