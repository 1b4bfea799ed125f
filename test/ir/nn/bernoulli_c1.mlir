// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @shape(%a: tensor<4xf32>, %b: tensor<2xi64>) -> tensor<3xi1> {
  // expected-error@+1 {{'nn.bernoulli' op the result's shape is not that of p, 'tensor<4xf32>'}}
  %r = nn.bernoulli %a, %b {stream = 3 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<3xi1>
  return %r : tensor<3xi1>
}
