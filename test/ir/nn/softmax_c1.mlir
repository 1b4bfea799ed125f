// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @range(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'nn.softmax' op dimension 2 is outside [0, 2)}}
  %r = nn.softmax %a {dimension = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
