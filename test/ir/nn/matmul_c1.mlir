// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<f32>, %b: tensor<3xf32>) -> tensor<f32> {
  // expected-error@+2 {{'nn.matmul' op an operand has rank 0}}
  // expected-error@+1 {{'nn.matmul' op failed to infer returned types}}
  %r = nn.matmul %a, %b : (tensor<f32>, tensor<3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func @element_type(%a: tensor<2x3xf32>, %b: tensor<3x4xf64>) -> tensor<2x4xf32> {
  // expected-error@+2 {{'nn.matmul' op a and b have different element types, 'tensor<2x3xf32>' and 'tensor<3x4xf64>'}}
  // expected-error@+1 {{'nn.matmul' op failed to infer returned types}}
  %r = nn.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf64>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
