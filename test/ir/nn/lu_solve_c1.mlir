// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<3x3xf32>, %pivots: tensor<3xi32>) -> tensor<3x3xf32> {
  // expected-error@+2 {{'nn.lu_solve' op a of type 'tensor<3x3xf32>' is not [matrices, m, n]}}
  // expected-error@+1 {{failed to infer returned types}}
  %x = nn.lu_solve %a, %a, %pivots, %a {transpose = false} : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xi32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %x : tensor<3x3xf32>
}

// -----

func.func @pivots(%a: tensor<2x3x3xf32>, %pivots: tensor<2x2xi32>) -> tensor<2x3x3xf32> {
  // expected-error@+2 {{'nn.lu_solve' op a of type 'tensor<2x3x3xf32>' and lu of type 'tensor<2x3x3xf32>', pivots of type 'tensor<2x2xi32>' and b of type 'tensor<2x3x3xf32>' do not fit}}
  // expected-error@+1 {{failed to infer returned types}}
  %x = nn.lu_solve %a, %a, %pivots, %a {transpose = false} : (tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x2xi32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  return %x : tensor<2x3x3xf32>
}

// -----

func.func @rows(%a: tensor<2x3x3xf32>, %pivots: tensor<2x3xi32>, %b: tensor<2x4x1xf32>) -> tensor<2x4x1xf32> {
  // expected-error@+2 {{'nn.lu_solve' op a of type 'tensor<2x3x3xf32>' and lu of type 'tensor<2x3x3xf32>', pivots of type 'tensor<2x3xi32>' and b of type 'tensor<2x4x1xf32>' do not fit}}
  // expected-error@+1 {{failed to infer returned types}}
  %x = nn.lu_solve %a, %a, %pivots, %b {transpose = false} : (tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x3xi32>, tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  return %x : tensor<2x4x1xf32>
}
