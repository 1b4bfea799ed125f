// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @groups(%a: tensor<2x4x5x5xf32>, %b: tensor<2x2x2x2xf32>) -> tensor<2x2x3x4xf32> {
  // expected-error@+1 {{'prim.convolution' op 'groups' is 3, which must divide 4 input and 2 output channels}}
  %r = prim.convolution %a, %b {dilations = array<i64: 1, 2>, groups = 3 : i64, pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<2x4x5x5xf32>, tensor<2x2x2x2xf32>) -> tensor<2x2x3x4xf32>
  return %r : tensor<2x2x3x4xf32>
}

// -----

func.func @channels(%a: tensor<2x4x5x5xf32>, %b: tensor<2x3x2x2xf32>) -> tensor<2x2x3x4xf32> {
  // expected-error@+1 {{'prim.convolution' op w has 3 input channels a group, but x has 4 channels in 2 groups}}
  %r = prim.convolution %a, %b {dilations = array<i64: 1, 2>, groups = 2 : i64, pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<2x4x5x5xf32>, tensor<2x3x2x2xf32>) -> tensor<2x2x3x4xf32>
  return %r : tensor<2x2x3x4xf32>
}

// -----

func.func @filter_last(%a: tensor<2x4x5x5xf32>, %b: tensor<2x2x2x3xf32>) -> tensor<2x2x3x4xf32> {
  // expected-error@+1 {{'prim.convolution' op w has 3 input channels a group, but x has 4 channels in 2 groups}}
  %r = prim.convolution %a, %b {dilations = array<i64: 1, 2>, filter_channels_last = true, groups = 2 : i64, pad_high = array<i64: 0, 1>, pad_low = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<2x4x5x5xf32>, tensor<2x2x2x3xf32>) -> tensor<2x2x3x4xf32>
  return %r : tensor<2x2x3x4xf32>
}
