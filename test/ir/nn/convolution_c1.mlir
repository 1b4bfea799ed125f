// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<2x4xf32> {
  // expected-error@+2 {{'nn.convolution' op x of type 'tensor<2x3xf32>' and w of type 'tensor<4x3xf32>' do not have the same 1 to 3 spatial dimensions}}
  // expected-error@+1 {{'nn.convolution' op failed to infer returned types}}
  %r = nn.convolution %a, %b {dilations = array<i64: 1>, groups = 1 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

func.func @entries(%a: tensor<2x3x8xf32>, %b: tensor<4x3x3xf32>) -> tensor<2x4x6xf32> {
  // expected-error@+2 {{'nn.convolution' op strides has 2 entries for 1 spatial dimensions}}
  // expected-error@+1 {{'nn.convolution' op failed to infer returned types}}
  %r = nn.convolution %a, %b {dilations = array<i64: 1>, groups = 1 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1, 1>} : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x6xf32>
  return %r : tensor<2x4x6xf32>
}

// -----

func.func @stride(%a: tensor<2x3x8xf32>, %b: tensor<4x3x3xf32>) -> tensor<2x4x6xf32> {
  // expected-error@+2 {{'nn.convolution' op strides and dilations must be at least 1}}
  // expected-error@+1 {{'nn.convolution' op failed to infer returned types}}
  %r = nn.convolution %a, %b {dilations = array<i64: 1>, groups = 1 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 0>} : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x6xf32>
  return %r : tensor<2x4x6xf32>
}
