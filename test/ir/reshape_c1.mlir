// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @size(%a: tensor<2x6xf32>) -> tensor<3x5xf32> {
  // expected-error@+1 {{'prim.reshape' op operand has 12 elements but the result 15}}
  %r = prim.reshape %a : (tensor<2x6xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// -----

func.func @element(%a: tensor<2x6xf32>) -> tensor<3x4xf64> {
  // expected-error@+1 {{'prim.reshape' op operand has element type 'f32' but the result 'f64'}}
  %r = prim.reshape %a : (tensor<2x6xf32>) -> tensor<3x4xf64>
  return %r : tensor<3x4xf64>
}
