// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  // expected-error@+2 {{'nn.cross_entropy' op scores have rank 0}}
  // expected-error@+1 {{'nn.cross_entropy' op failed to infer returned types}}
  %r = nn.cross_entropy %a, %b {label_smoothing = 0.0, reduction = #nn<reduction mean>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func @indices(%a: tensor<2x3xf32>, %b: tensor<3xi64>) -> tensor<f32> {
  // expected-error@+2 {{'nn.cross_entropy' op target of type 'tensor<3xi64>' does not fit scores of type 'tensor<2x3xf32>': expected the shape without the classes}}
  // expected-error@+1 {{'nn.cross_entropy' op failed to infer returned types}}
  %r = nn.cross_entropy %a, %b {label_smoothing = 0.0, reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func @probabilities(%a: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<f32> {
  // expected-error@+2 {{'nn.cross_entropy' op target of type 'tensor<2xf32>' does not fit scores of type 'tensor<2x3xf32>': expected the same shape}}
  // expected-error@+1 {{'nn.cross_entropy' op failed to infer returned types}}
  %r = nn.cross_entropy %a, %b {label_smoothing = 0.0, reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<f32>
  return %r : tensor<f32>
}
