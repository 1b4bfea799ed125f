// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @negative(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.polygamma' op order is -1, not in [0, 100]}}
  %r = nn.polygamma %a {order = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @large(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.polygamma' op order is 101, not in [0, 100]}}
  %r = nn.polygamma %a {order = 101 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
