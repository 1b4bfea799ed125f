// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<2x3xf32>, %b: tensor<8x3xf32>, %c: tensor<8x2xf32>) -> (tensor<2x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>) {
  // expected-error@+2 {{'nn.lstm' op x of type 'tensor<2x3xf32>' and r of type 'tensor<8x2xf32>' do not have rank 3}}
  // expected-error@+1 {{'nn.lstm' op failed to infer returned types}}
  %r:3 = nn.lstm %a, %b, %c {batch_first = false, direction = #nn<rnn_direction forward>} : (tensor<2x3xf32>, tensor<8x3xf32>, tensor<8x2xf32>) -> (tensor<2x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>
}

// -----

func.func @weights(%a: tensor<2x1x3xf32>, %b: tensor<1x6x3xf32>, %c: tensor<1x8x2xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>) {
  // expected-error@+2 {{'nn.lstm' op w has type 'tensor<1x6x3xf32>', expected 'tensor<1x8x3xf32>'}}
  // expected-error@+1 {{'nn.lstm' op failed to infer returned types}}
  %r:3 = nn.lstm %a, %b, %c {batch_first = false, direction = #nn<rnn_direction forward>} : (tensor<2x1x3xf32>, tensor<1x6x3xf32>, tensor<1x8x2xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>
}

// -----

func.func @state(%a: tensor<2x1x3xf32>, %b: tensor<1x8x3xf32>, %c: tensor<1x8x2xf32>, %d: tensor<1x2x2xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>) {
  // expected-error@+2 {{'nn.lstm' op initial_h has type 'tensor<1x2x2xf32>', expected 'tensor<1x1x2xf32>'}}
  // expected-error@+1 {{'nn.lstm' op failed to infer returned types}}
  %r:3 = nn.lstm %a, %b, %c h %d {batch_first = false, direction = #nn<rnn_direction forward>} : (tensor<2x1x3xf32>, tensor<1x8x3xf32>, tensor<1x8x2xf32>, tensor<1x2x2xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>
}

// -----

func.func @steps(%a: tensor<0x1x3xf32>, %b: tensor<1x8x3xf32>, %c: tensor<1x8x2xf32>) -> (tensor<0x1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>) {
  // expected-error@+2 {{'nn.lstm' op x of type 'tensor<0x1x3xf32>' has no steps}}
  // expected-error@+1 {{'nn.lstm' op failed to infer returned types}}
  %r:3 = nn.lstm %a, %b, %c {batch_first = false, direction = #nn<rnn_direction forward>} : (tensor<0x1x3xf32>, tensor<1x8x3xf32>, tensor<1x8x2xf32>) -> (tensor<0x1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>)
  return %r#0, %r#1, %r#2 : tensor<0x1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>
}
