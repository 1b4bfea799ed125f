// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @weight(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %c: tensor<2xf32>) -> tensor<f32> {
  // expected-error@+2 {{'nn.bce_with_logits' op a weight of type 'tensor<2xf32>' does not broadcast to x of type 'tensor<2x3xf32>'}}
  // expected-error@+1 {{'nn.bce_with_logits' op failed to infer returned types}}
  %r = nn.bce_with_logits %a, %b weight %c {reduction = #nn<reduction sum>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<f32>
  return %r : tensor<f32>
}
