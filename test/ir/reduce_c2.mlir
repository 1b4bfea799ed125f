// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @number(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error@+2 {{'prim.reduce' op of kind all takes booleans, but the operand is 'tensor<2x3xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.reduce all %a {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

func.func @bool(%a: tensor<2x3xi1>) -> tensor<2xi1> {
  // expected-error@+2 {{'prim.reduce' op of kind sum takes numbers, but the operand is 'tensor<2x3xi1>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.reduce sum %a {dimensions = array<i64: 1>} : (tensor<2x3xi1>) -> tensor<2xi1>
  return %r : tensor<2xi1>
}
