// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @range(%a: tensor<4x2xf32>, %b: tensor<3xi32>, %c: tensor<3x2xf32>) -> tensor<4x2xf32> {
  // expected-error@+2 {{'prim.scatter' op 'axis' is 2, out of range for rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.scatter %a, %b, %c {axis = 2 : i64, kind = #prim<scatter_kind add>} : (tensor<4x2xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}
