// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -verify-diagnostics

func.func @key(%key: tensor<3xi64>) -> tensor<4xui32> {
  // expected-error@+1 {{key is 'tensor<3xi64>', expected tensor<2xi64> of [seed, step]}}
  %r = prim.random_bits %key {stream = 0 : i64} : (tensor<3xi64>) -> tensor<4xui32>
  return %r : tensor<4xui32>
}
