// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<3xf32>, %b: tensor<1xf32>) -> tensor<5xf32> {
  // expected-error@+2 {{'prim.pad' op 'value' must be a tensor of rank 0 of element type 'f32', but is 'tensor<1xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.pad %a, %b {high = array<i64: 1>, interior = array<i64: 0>, low = array<i64: 1>} : (tensor<3xf32>, tensor<1xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

func.func @element(%a: tensor<3xf32>, %b: tensor<f64>) -> tensor<5xf32> {
  // expected-error@+2 {{'prim.pad' op 'value' must be a tensor of rank 0 of element type 'f32', but is 'tensor<f64>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.pad %a, %b {high = array<i64: 1>, interior = array<i64: 0>, low = array<i64: 1>} : (tensor<3xf32>, tensor<f64>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}
