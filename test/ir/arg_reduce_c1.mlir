// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @kind(%a: tensor<2x3xf32>) -> tensor<2xi64> {
  // expected-error@+2 {{'prim.arg_reduce' op 'kind' must be max or min, but is sum}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.arg_reduce sum %a {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
  return %r : tensor<2xi64>
}
