// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @mean(%a: tensor<2xf32>, %b: tensor<2xf64>) -> (tensor<2xf32>, tensor<2xf64>) {
  // expected-error@+2 {{'prim.all_reduce' op operand 1 is 'tensor<2xf64>', but operand 0 is 'tensor<2xf32>': all have one element type}}
  // expected-error@+1 {{failed to infer returned types}}
  %r:2 = prim.all_reduce %a, %b : (tensor<2xf32>, tensor<2xf64>) -> (tensor<2xf32>, tensor<2xf64>)
  return %r#0, %r#1 : tensor<2xf32>, tensor<2xf64>
}

// -----

func.func @first(%a: tensor<2xi64>, %b: tensor<3xf32>) -> (tensor<2xi64>, tensor<3xf32>) {
  // expected-error@+2 {{'prim.broadcast_from' op operand 1 is 'tensor<3xf32>', but operand 0 is 'tensor<2xi64>': all have one element type}}
  // expected-error@+1 {{failed to infer returned types}}
  %r:2 = prim.broadcast_from %a, %b : (tensor<2xi64>, tensor<3xf32>) -> (tensor<2xi64>, tensor<3xf32>)
  return %r#0, %r#1 : tensor<2xi64>, tensor<3xf32>
}
