// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rows(%x: tensor<2x3x5xf32>, %a: tensor<2x1x4x5xf32>) -> tensor<2x3x5xf32> {
  // expected-error@+2 {{'prim.log_recurrence' op 'x' must be [matrices, rows, columns] and 'a' [matrices, terms, rows, columns], but they are 'tensor<2x3x5xf32>' and 'tensor<2x1x4x5xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.log_recurrence %x, %a : (tensor<2x3x5xf32>, tensor<2x1x4x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}

// -----

func.func @ranks(%x: tensor<2x3x5xf32>, %a: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  // expected-error@+2 {{'a' [matrices, terms, rows, columns]}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.log_recurrence %x, %a : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}
