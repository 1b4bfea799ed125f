// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @bias(%a: tensor<2x3x8xf32>, %b: tensor<4x3x3xf32>, %c: tensor<3xf32>) -> tensor<2x4x6xf32> {
  // expected-error@+2 {{'nn.convolution' op bias of type 'tensor<3xf32>' does not have 4 elements}}
  // expected-error@+1 {{'nn.convolution' op failed to infer returned types}}
  %r = nn.convolution %a, %b bias %c {dilations = array<i64: 1>, groups = 1 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<2x3x8xf32>, tensor<4x3x3xf32>, tensor<3xf32>) -> tensor<2x4x6xf32>
  return %r : tensor<2x4x6xf32>
}
