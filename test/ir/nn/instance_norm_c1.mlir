// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>) -> tensor<2x3xf32> {
  // expected-error@+2 {{'nn.instance_norm' op x of type 'tensor<2x3xf32>' has a rank below 3}}
  // expected-error@+1 {{'nn.instance_norm' op failed to infer returned types}}
  %r = nn.instance_norm %a, %b, %c {epsilon = 1.0e-05 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
