// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<2x3x4xf32>, %b: tensor<2x3x4xf32>, %c: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  // expected-error@+2 {{'nn.attention' op q, k and v of types 'tensor<2x3x4xf32>', 'tensor<2x3x4xf32>' and 'tensor<2x3x4xf32>' do not have rank 4}}
  // expected-error@+1 {{'nn.attention' op failed to infer returned types}}
  %r = nn.attention %a, %b, %c {causal = false, scale = 1.0} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// -----

func.func @heads(%a: tensor<1x3x3x4xf32>, %b: tensor<1x2x3x4xf32>, %c: tensor<1x2x3x4xf32>) -> tensor<1x3x3x4xf32> {
  // expected-error@+2 {{'nn.attention' op the extents of q 'tensor<1x3x3x4xf32>', k 'tensor<1x2x3x4xf32>' and v 'tensor<1x2x3x4xf32>' do not agree}}
  // expected-error@+1 {{'nn.attention' op failed to infer returned types}}
  %r = nn.attention %a, %b, %c {causal = false, scale = 1.0} : (tensor<1x3x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x3x3x4xf32>
  return %r : tensor<1x3x3x4xf32>
}

// -----

func.func @element_type(%a: tensor<1x2x3x4xf32>, %b: tensor<1x2x3x4xf32>, %c: tensor<1x2x3x4xf64>) -> tensor<1x2x3x4xf32> {
  // expected-error@+2 {{'nn.attention' op q, k and v have different element types}}
  // expected-error@+1 {{'nn.attention' op failed to infer returned types}}
  %r = nn.attention %a, %b, %c {causal = false, scale = 1.0} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf64>) -> tensor<1x2x3x4xf32>
  return %r : tensor<1x2x3x4xf32>
}
