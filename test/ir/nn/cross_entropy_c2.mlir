// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @shape(%a: tensor<2x3xf32>, %b: tensor<2xi64>, %c: tensor<2xf32>) -> tensor<f32> {
  // expected-error@+2 {{'nn.cross_entropy' op weight of type 'tensor<2xf32>' is not one 'f32' for each of the 3 classes}}
  // expected-error@+1 {{'nn.cross_entropy' op failed to infer returned types}}
  %r = nn.cross_entropy %a, %b weight %c {label_smoothing = 0.0, reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func @element_type(%a: tensor<2x3xf32>, %b: tensor<2xi64>, %c: tensor<3xf64>) -> tensor<f32> {
  // expected-error@+2 {{'nn.cross_entropy' op weight of type 'tensor<3xf64>' is not one 'f32' for each of the 3 classes}}
  // expected-error@+1 {{'nn.cross_entropy' op failed to infer returned types}}
  %r = nn.cross_entropy %a, %b weight %c {label_smoothing = 0.0, reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2xi64>, tensor<3xf64>) -> tensor<f32>
  return %r : tensor<f32>
}
