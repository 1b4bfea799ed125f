// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @channels(%a: tensor<2x3x3xf32>, %b: tensor<4x3x3xf32>) -> tensor<2x3x5xf32> {
  // expected-error@+2 {{'nn.conv_transpose' op 1 groups do not fit x of type 'tensor<2x3x3xf32>' and w of type 'tensor<4x3x3xf32>'}}
  // expected-error@+1 {{'nn.conv_transpose' op failed to infer returned types}}
  %r = nn.conv_transpose %a, %b {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 0>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<2x3x3xf32>, tensor<4x3x3xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}
