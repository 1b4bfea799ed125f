// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @divides(%a: tensor<2x3x3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>) -> tensor<2x3x3xf32> {
  // expected-error@+2 {{'nn.group_norm' op cannot form 2 groups of 3 channels}}
  // expected-error@+1 {{'nn.group_norm' op failed to infer returned types}}
  %r = nn.group_norm %a, %b, %c {epsilon = 1.0e-05 : f64, groups = 2 : i64} : (tensor<2x3x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x3xf32>
  return %r : tensor<2x3x3xf32>
}
