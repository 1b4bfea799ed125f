// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<1x2xf32>) -> tensor<1x2xf32> {
  // expected-error@+2 {{'nn.max_pool' op x of type 'tensor<1x2xf32>' does not have 1 to 3 spatial dimensions}}
  // expected-error@+1 {{'nn.max_pool' op failed to infer returned types}}
  %r = nn.max_pool %a {ceil_mode = false, dilations = array<i64>, pad_high = array<i64>, pad_low = array<i64>, strides = array<i64>, window = array<i64>} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// -----

func.func @entries(%a: tensor<1x2x5xf32>) -> tensor<1x2x2xf32> {
  // expected-error@+2 {{'nn.max_pool' op an attribute has 2 entries for 1 spatial dimensions}}
  // expected-error@+1 {{'nn.max_pool' op failed to infer returned types}}
  %r = nn.max_pool %a {ceil_mode = false, dilations = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 2>, window = array<i64: 2, 2>} : (tensor<1x2x5xf32>) -> tensor<1x2x2xf32>
  return %r : tensor<1x2x2xf32>
}

// -----

func.func @window(%a: tensor<1x2x5xf32>) -> tensor<1x2x2xf32> {
  // expected-error@+2 {{'nn.average_pool' op window, strides and dilations must be at least 1, pads at least 0}}
  // expected-error@+1 {{'nn.average_pool' op failed to infer returned types}}
  %r = nn.average_pool %a {ceil_mode = false, count_include_pad = false, dilations = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 2>, window = array<i64: 0>} : (tensor<1x2x5xf32>) -> tensor<1x2x2xf32>
  return %r : tensor<1x2x2xf32>
}
