// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @bias(%a: tensor<2x1x3xf32>, %b: tensor<1x6x3xf32>, %c: tensor<1x6x2xf32>, %d: tensor<1x6xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>) {
  // expected-error@+2 {{'nn.gru' op b has type 'tensor<1x6xf32>', expected 'tensor<1x12xf32>'}}
  // expected-error@+1 {{'nn.gru' op failed to infer returned types}}
  %r:2 = nn.gru %a, %b, %c b %d {batch_first = false, direction = #nn<rnn_direction forward>, linear_before_reset = true} : (tensor<2x1x3xf32>, tensor<1x6x3xf32>, tensor<1x6x2xf32>, tensor<1x6xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>)
  return %r#0, %r#1 : tensor<2x1x1x2xf32>, tensor<1x1x2xf32>
}
