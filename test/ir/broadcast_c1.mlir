// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @count(%a: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  // expected-error@+1 {{'prim.broadcast' op 'dimensions' has 1 entries for an operand of rank 2}}
  %r = prim.broadcast %a {dimensions = array<i64: 1>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// -----

func.func @order(%a: tensor<3x1xf32>) -> tensor<2x1x3xf32> {
  // expected-error@+1 {{'prim.broadcast' op 'dimensions' must increase strictly and stay below the result's rank 3, but entry 1 is 1}}
  %r = prim.broadcast %a {dimensions = array<i64: 2, 1>} : (tensor<3x1xf32>) -> tensor<2x1x3xf32>
  return %r : tensor<2x1x3xf32>
}

// -----

func.func @range(%a: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{'prim.broadcast' op 'dimensions' must increase strictly and stay below the result's rank 1, but entry 0 is 1}}
  %r = prim.broadcast %a {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
