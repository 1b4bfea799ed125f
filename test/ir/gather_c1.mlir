// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @range(%a: tensor<4x3xf32>, %b: tensor<2xi64>) -> tensor<2x3xf32> {
  // expected-error@+2 {{'prim.gather' op 'axis' is 2, out of range for rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.gather %a, %b {axis = 2 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

func.func @negative(%a: tensor<4x3xf32>, %b: tensor<2xi64>) -> tensor<4x2xf32> {
  // expected-error@+2 {{'prim.gather' op 'axis' is -1, out of range for rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.gather %a, %b {axis = -1 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}
