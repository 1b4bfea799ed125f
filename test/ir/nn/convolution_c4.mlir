// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @fits(%a: tensor<2x3x2xf32>, %b: tensor<4x3x3xf32>) -> tensor<2x4x1xf32> {
  // expected-error@+2 {{'nn.convolution' op the kernel of w 'tensor<4x3x3xf32>' does not fit x 'tensor<2x3x2xf32>' padded to 2 in spatial dimension 0}}
  // expected-error@+1 {{'nn.convolution' op failed to infer returned types}}
  %r = nn.convolution %a, %b {dilations = array<i64: 1>, groups = 1 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<2x3x2xf32>, tensor<4x3x3xf32>) -> tensor<2x4x1xf32>
  return %r : tensor<2x4x1xf32>
}
