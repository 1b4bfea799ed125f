// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @range(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+2 {{'nn.rms_norm' op axis 2 is outside [0, 2)}}
  // expected-error@+1 {{'nn.rms_norm' op failed to infer returned types}}
  %r = nn.rms_norm %a {axis = 2 : i64, epsilon = 0.0} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
