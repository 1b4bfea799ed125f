// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @count(%a: tensor<5x6xf32>) -> tensor<2x3xf32> {
  // expected-error@+2 {{'prim.slice' op 'starts' has 1 entries for an operand of rank 2}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.slice %a {limits = array<i64: 3, 6>, starts = array<i64: 1>, strides = array<i64: 1, 2>} : (tensor<5x6xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
