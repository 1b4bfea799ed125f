// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @behind(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+2 {{'prim.sort' op 'range' is [1, 4] where two places in order, from 0 to 3, are needed}}
  // expected-error@+1 {{failed to infer returned types}}
  %r:2 = prim.sort %a {descending = true, dimension = 1 : i64, range = array<i64: 1, 4>} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  return %r#0 : tensor<2x3xf32>
}

// -----

func.func @before(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+2 {{'prim.sort' op 'range' is [-1, 2] where two places in order, from 0 to 3, are needed}}
  // expected-error@+1 {{failed to infer returned types}}
  %r:2 = prim.sort %a {descending = true, dimension = 1 : i64, range = array<i64: -1, 2>} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  return %r#0 : tensor<2x3xf32>
}

// -----

func.func @reversed(%a: tensor<2x3xf32>) -> tensor<2x1xf32> {
  // expected-error@+2 {{'prim.sort' op 'range' is [2, 1] where two places in order, from 0 to 3, are needed}}
  // expected-error@+1 {{failed to infer returned types}}
  %r:2 = prim.sort %a {descending = true, dimension = 1 : i64, range = array<i64: 2, 1>} : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
  return %r#0 : tensor<2x1xf32>
}

// -----

func.func @one(%a: tensor<2x3xf32>) -> tensor<2x1xf32> {
  // expected-error@+2 {{'prim.sort' op 'range' is [2] where two places in order, from 0 to 3, are needed}}
  // expected-error@+1 {{failed to infer returned types}}
  %r:2 = prim.sort %a {descending = true, dimension = 1 : i64, range = array<i64: 2>} : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
  return %r#0 : tensor<2x1xf32>
}
