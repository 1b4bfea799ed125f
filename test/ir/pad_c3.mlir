// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @negative(%a: tensor<3xf32>, %b: tensor<f32>) -> tensor<0xf32> {
  // expected-error@+2 {{'prim.pad' op removes more than there is of dimension 0: its extent would be -1}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.pad %a, %b {high = array<i64: -2>, interior = array<i64: 0>, low = array<i64: -2>} : (tensor<3xf32>, tensor<f32>) -> tensor<0xf32>
  return %r : tensor<0xf32>
}
