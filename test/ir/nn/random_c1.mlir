// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @dropout(%a: tensor<4xf32>, %b: tensor<3xi64>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.dropout' op key of type 'tensor<3xi64>' is not [seed, step]}}
  %r = nn.dropout %a, %b {ratio = 0.5, stream = 3 : i64} : (tensor<4xf32>, tensor<3xi64>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @uniform(%a: tensor<i64>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.random_uniform' op key of type 'tensor<i64>' is not [seed, step]}}
  %r = nn.random_uniform %a {low = 0.0, high = 1.0, stream = 3 : i64} : (tensor<i64>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
