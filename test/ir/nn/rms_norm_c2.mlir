// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @shape(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+2 {{'nn.rms_norm' op an operand of type 'tensor<2x3xf32>' does not have the shape of the normalised dimensions of x, 'tensor<2x3xf32>' from 1}}
  // expected-error@+1 {{'nn.rms_norm' op failed to infer returned types}}
  %r = nn.rms_norm %a scale %b {axis = 1 : i64, epsilon = 1.0e-05 : f64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
