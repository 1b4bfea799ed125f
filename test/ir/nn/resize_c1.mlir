// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @ranks(%a: tensor<2x3xf32>) -> tensor<2x6xf32> {
  // expected-error@+1 {{'nn.resize' op x, the result and scales have ranks 2, 2 and 3}}
  %r = nn.resize %a {coordinates = #nn<resize_coordinates half_pixel>, mode = #nn<resize_mode linear>, nearest = #nn<resize_nearest floor>, scales = array<f64: 1.0e+00, 2.0e+00, 1.0e+00>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// -----

func.func @element_type(%a: tensor<2x3xf32>) -> tensor<2x6xf64> {
  // expected-error@+1 {{'nn.resize' op x and the result have different element types}}
  %r = nn.resize %a {coordinates = #nn<resize_coordinates half_pixel>, mode = #nn<resize_mode linear>, nearest = #nn<resize_nearest floor>, scales = array<f64: 1.0e+00, 2.0e+00>} : (tensor<2x3xf32>) -> tensor<2x6xf64>
  return %r : tensor<2x6xf64>
}

// -----

func.func @scale(%a: tensor<2x3xf32>) -> tensor<2x6xf32> {
  // expected-error@+1 {{'nn.resize' op dimension 1 of x cannot be scaled by -2.000000e+00}}
  %r = nn.resize %a {coordinates = #nn<resize_coordinates half_pixel>, mode = #nn<resize_mode linear>, nearest = #nn<resize_nearest floor>, scales = array<f64: 1.0e+00, -2.0e+00>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}
