// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @fits(%a: tensor<1x2x5xf32>) -> tensor<1x2x1xf32> {
  // expected-error@+2 {{'nn.max_pool' op a window that reaches over 6 elements does not fit extent 5 padded by 0 and 0}}
  // expected-error@+1 {{'nn.max_pool' op failed to infer returned types}}
  %r = nn.max_pool %a {ceil_mode = false, dilations = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 2>, window = array<i64: 6>} : (tensor<1x2x5xf32>) -> tensor<1x2x1xf32>
  return %r : tensor<1x2x1xf32>
}

// -----

// Rounded up there is one window, as long as the next would start in reach: the room is -2, the stride 2.
func.func @fits_rounded_up(%a: tensor<1x2x5xf32>) -> tensor<1x2x1xf32> {
  // expected-error@+2 {{'nn.max_pool' op a window that reaches over 7 elements does not fit extent 5 padded by 0 and 0}}
  // expected-error@+1 {{'nn.max_pool' op failed to infer returned types}}
  %r = nn.max_pool %a {ceil_mode = true, dilations = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 2>, window = array<i64: 7>} : (tensor<1x2x5xf32>) -> tensor<1x2x1xf32>
  return %r : tensor<1x2x1xf32>
}

// -----

func.func @padding(%a: tensor<1x2x5xf32>) -> tensor<1x2x3xf32> {
  // expected-error@+2 {{'nn.max_pool' op a window that reaches over 2 elements does not fit extent 5 padded by 2 and 0}}
  // expected-error@+1 {{'nn.max_pool' op failed to infer returned types}}
  %r = nn.max_pool %a {ceil_mode = false, dilations = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 2>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<1x2x5xf32>) -> tensor<1x2x3xf32>
  return %r : tensor<1x2x3xf32>
}
