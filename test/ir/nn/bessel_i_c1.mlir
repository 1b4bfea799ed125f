// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -verify-diagnostics

func.func @large(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'nn.bessel_i' op order is 9, not in [0, 8]}}
  %r = nn.bessel_i %a {order = 9 : i64, scaled = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
