// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @shape(%a: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'nn.prelu' op slope of type 'tensor<2xf32>' does not broadcast to x of type 'tensor<2x3xf32>'}}
  %r = nn.prelu %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

func.func @element_type(%a: tensor<2x3xf32>, %b: tensor<3xf64>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'nn.prelu' op x and slope have different element types}}
  %r = nn.prelu %a, %b : (tensor<2x3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
