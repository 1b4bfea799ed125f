// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @directions(%a: tensor<2x1x3xf32>, %b: tensor<1x2x3xf32>, %c: tensor<1x2x2xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>) {
  // expected-error@+2 {{'nn.rnn' op w has type 'tensor<1x2x3xf32>', expected 'tensor<2x2x3xf32>'}}
  // expected-error@+1 {{'nn.rnn' op failed to infer returned types}}
  %r:2 = nn.rnn %a, %b, %c {batch_first = false, direction = #nn<rnn_direction bidirectional>, relu = false} : (tensor<2x1x3xf32>, tensor<1x2x3xf32>, tensor<1x2x2xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>)
  return %r#0, %r#1 : tensor<2x1x1x2xf32>, tensor<1x1x2xf32>
}
