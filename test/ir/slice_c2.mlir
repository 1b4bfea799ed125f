// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @limit(%a: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error@+2 {{'prim.slice' op takes [1, 6) of dimension 0, whose extent is 5}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.slice %a {limits = array<i64: 6>, starts = array<i64: 1>, strides = array<i64: 1>} : (tensor<5xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

func.func @start(%a: tensor<5xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{'prim.slice' op takes [-1, 3) of dimension 0, whose extent is 5}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.slice %a {limits = array<i64: 3>, starts = array<i64: -1>, strides = array<i64: 1>} : (tensor<5xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @stride(%a: tensor<5xf32>) -> tensor<2xf32> {
  // expected-error@+2 {{'prim.slice' op 'strides' has the entry 0, less than 1}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.slice %a {limits = array<i64: 3>, starts = array<i64: 1>, strides = array<i64: 0>} : (tensor<5xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
