// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @range(%a: tensor<2x3xf32>, %b: tensor<2xi64>) -> tensor<f32> {
  // expected-error@+2 {{'nn.cross_entropy' op label_smoothing 1.500000e+00 is outside [0, 1]}}
  // expected-error@+1 {{'nn.cross_entropy' op failed to infer returned types}}
  %r = nn.cross_entropy %a, %b {label_smoothing = 1.5, reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<f32>
  return %r : tensor<f32>
}
