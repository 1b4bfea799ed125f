// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @ratio(%a: tensor<4xf32>, %b: tensor<2xi64>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.dropout' op ratio 1.500000e+00 is outside [0, 1]}}
  %r = nn.dropout %a, %b {ratio = 1.5, stream = 3 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
