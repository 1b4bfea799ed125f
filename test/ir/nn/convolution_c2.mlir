// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @groups(%a: tensor<2x3x8xf32>, %b: tensor<4x3x3xf32>) -> tensor<2x4x6xf32> {
  // expected-error@+2 {{'nn.convolution' op 2 groups do not fit x of type 'tensor<2x3x8xf32>' and w of type 'tensor<4x3x3xf32>'}}
  // expected-error@+1 {{'nn.convolution' op failed to infer returned types}}
  %r = nn.convolution %a, %b {dilations = array<i64: 1>, groups = 2 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x6xf32>
  return %r : tensor<2x4x6xf32>
}

// -----

func.func @channels(%a: tensor<2x2x8xf32>, %b: tensor<4x3x3xf32>) -> tensor<2x4x6xf32> {
  // expected-error@+2 {{'nn.convolution' op 1 groups do not fit x of type 'tensor<2x2x8xf32>' and w of type 'tensor<4x3x3xf32>'}}
  // expected-error@+1 {{'nn.convolution' op failed to infer returned types}}
  %r = nn.convolution %a, %b {dilations = array<i64: 1>, groups = 1 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<2x2x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x6xf32>
  return %r : tensor<2x4x6xf32>
}

// -----

func.func @element_type(%a: tensor<2x3x8xf32>, %b: tensor<4x3x3xf64>) -> tensor<2x4x6xf32> {
  // expected-error@+2 {{'nn.convolution' op operands have different element types, 'tensor<2x3x8xf32>' and 'tensor<4x3x3xf64>'}}
  // expected-error@+1 {{'nn.convolution' op failed to infer returned types}}
  %r = nn.convolution %a, %b {dilations = array<i64: 1>, groups = 1 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<2x3x8xf32>, tensor<4x3x3xf64>) -> tensor<2x4x6xf32>
  return %r : tensor<2x4x6xf32>
}
