// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @count(%a: tensor<2x5xf32>) -> tensor<2x4xf32> {
  // expected-error@+2 {{'prim.reduce_window' op 'window' has 1 entries for an operand of rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.reduce_window sum %a {dilations = array<i64: 1, 2>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 1>, strides = array<i64: 1, 1>, window = array<i64: 1>} : (tensor<2x5xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

func.func @stride(%a: tensor<2x5xf32>) -> tensor<2x4xf32> {
  // expected-error@+2 {{'prim.reduce_window' op 'strides' has the entry 0, less than 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.reduce_window sum %a {dilations = array<i64: 1, 2>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 1>, strides = array<i64: 0, 1>, window = array<i64: 1, 2>} : (tensor<2x5xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

func.func @pad(%a: tensor<2x5xf32>) -> tensor<2x4xf32> {
  // expected-error@+2 {{'prim.reduce_window' op 'pad_low' has the entry -1, less than 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.reduce_window sum %a {dilations = array<i64: 1, 2>, pad_high = array<i64: 0, 0>, pad_low = array<i64: -1, 1>, strides = array<i64: 1, 1>, window = array<i64: 1, 2>} : (tensor<2x5xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
