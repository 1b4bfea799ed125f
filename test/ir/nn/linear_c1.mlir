// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<2x3xf32>, %b: tensor<2x3x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+2 {{'nn.linear' op x of type 'tensor<2x3xf32>' and w of type 'tensor<2x3x4xf32>' need a rank of at least 1 and of 2}}
  // expected-error@+1 {{'nn.linear' op failed to infer returned types}}
  %r = nn.linear %a, %b {transpose_w = false} : (tensor<2x3xf32>, tensor<2x3x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

func.func @element_type(%a: tensor<2x3xf32>, %b: tensor<3x4xf64>) -> tensor<2x4xf32> {
  // expected-error@+2 {{'nn.linear' op operands have different element types, 'tensor<2x3xf32>' and 'tensor<3x4xf64>'}}
  // expected-error@+1 {{'nn.linear' op failed to infer returned types}}
  %r = nn.linear %a, %b {transpose_w = false} : (tensor<2x3xf32>, tensor<3x4xf64>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
