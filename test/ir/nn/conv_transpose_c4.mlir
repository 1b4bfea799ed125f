// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @too_much(%a: tensor<2x4x3xf32>, %b: tensor<4x3x3xf32>) -> tensor<2x3x6xf32> {
  // expected-error@+2 {{'nn.conv_transpose' op output_padding 1 is outside [0, stride 1)}}
  // expected-error@+1 {{'nn.conv_transpose' op failed to infer returned types}}
  %r = nn.conv_transpose %a, %b {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<2x4x3xf32>, tensor<4x3x3xf32>) -> tensor<2x3x6xf32>
  return %r : tensor<2x3x6xf32>
}

// -----

func.func @negative(%a: tensor<2x4x3xf32>, %b: tensor<4x3x3xf32>) -> tensor<2x3x0xf32> {
  // expected-error@+2 {{'nn.conv_transpose' op spatial dimension 0 of the result would be negative}}
  // expected-error@+1 {{'nn.conv_transpose' op failed to infer returned types}}
  %r = nn.conv_transpose %a, %b {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>, pad_high = array<i64: 3>, pad_low = array<i64: 3>, strides = array<i64: 1>} : (tensor<2x4x3xf32>, tensor<4x3x3xf32>) -> tensor<2x3x0xf32>
  return %r : tensor<2x3x0xf32>
}
