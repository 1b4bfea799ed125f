// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @count(%a: tensor<2x3xf32>, %b: tensor<f32>) -> tensor<4x6xf32> {
  // expected-error@+2 {{'prim.pad' op 'low' has 1 entries for an operand of rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.pad %a, %b {high = array<i64: 1, 2>, interior = array<i64: 0, 1>, low = array<i64: 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// -----

func.func @interior(%a: tensor<3xf32>, %b: tensor<f32>) -> tensor<3xf32> {
  // expected-error@+2 {{'prim.pad' op 'interior' has the entry -1, less than 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.pad %a, %b {high = array<i64: 1>, interior = array<i64: -1>, low = array<i64: 1>} : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
