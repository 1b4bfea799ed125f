// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @extent(%a: tensor<2x3xf32>, %b: tensor<3x3xf32>) -> tensor<2x6xf32> {
  // expected-error@+2 {{'prim.concatenate' op operand 1 is 'tensor<3x3xf32>', but operand 0 is 'tensor<2x3xf32>': they may differ in dimension 1 only}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.concatenate %a, %b {dimension = 1 : i64} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

// -----

func.func @rank(%a: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<2x4xf32> {
  // expected-error@+2 {{'prim.concatenate' op operand 1 is 'tensor<2xf32>', but operand 0 is 'tensor<2x3xf32>': they may differ in dimension 1 only}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.concatenate %a, %b {dimension = 1 : i64} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

func.func @element(%a: tensor<2xf32>, %b: tensor<2xf64>) -> tensor<4xf32> {
  // expected-error@+2 {{'prim.concatenate' op operand 1 is 'tensor<2xf64>', but operand 0 is 'tensor<2xf32>': they may differ in dimension 0 only}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.concatenate %a, %b {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf64>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
