// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @range(%a: tensor<2x3xf32>) -> tensor<2xi64> {
  // expected-error@+2 {{'prim.arg_reduce' op 'dimension' is 2, out of range for rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.arg_reduce max %a {dimension = 2 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
  return %r : tensor<2xi64>
}

// -----

func.func @empty(%a: tensor<2x0xf32>) -> tensor<2xi64> {
  // expected-error@+2 {{'prim.arg_reduce' op dimension 1 has no elements}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.arg_reduce max %a {dimension = 1 : i64} : (tensor<2x0xf32>) -> tensor<2xi64>
  return %r : tensor<2xi64>
}
