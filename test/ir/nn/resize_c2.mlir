// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @missing(%a: tensor<2x3xf32>) -> tensor<2x6xf32> {
  // expected-error@+1 {{'nn.resize' op tf_crop_and_resize, and nothing else, needs a region of 4 entries}}
  %r = nn.resize %a {coordinates = #nn<resize_coordinates tf_crop_and_resize>, mode = #nn<resize_mode linear>, nearest = #nn<resize_nearest floor>, scales = array<f64: 1.0e+00, 2.0e+00>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// -----

func.func @surplus(%a: tensor<2x3xf32>) -> tensor<2x6xf32> {
  // expected-error@+1 {{'nn.resize' op tf_crop_and_resize, and nothing else, needs a region of 4 entries}}
  %r = nn.resize %a {coordinates = #nn<resize_coordinates half_pixel>, mode = #nn<resize_mode linear>, nearest = #nn<resize_nearest floor>, region = array<f64: 0.0, 0.0, 1.0, 1.0>, scales = array<f64: 1.0e+00, 2.0e+00>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// -----

func.func @short(%a: tensor<2x3xf32>) -> tensor<2x6xf32> {
  // expected-error@+1 {{'nn.resize' op tf_crop_and_resize, and nothing else, needs a region of 4 entries}}
  %r = nn.resize %a {coordinates = #nn<resize_coordinates tf_crop_and_resize>, mode = #nn<resize_mode linear>, nearest = #nn<resize_nearest floor>, region = array<f64: 0.0, 1.0>, scales = array<f64: 1.0e+00, 2.0e+00>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}
