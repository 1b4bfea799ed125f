// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @updates(%a: tensor<4x2xf32>, %b: tensor<3xi32>, %c: tensor<2x3xf32>) -> tensor<4x2xf32> {
  // expected-error@+2 {{'prim.scatter' op 'updates' is 'tensor<2x3xf32>', but data and indices ask for 'tensor<3x2xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.scatter %a, %b, %c {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<4x2xf32>, tensor<3xi32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}
