// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @none() -> tensor<2xf32> {
  // expected-error@+2 {{'prim.concatenate' op needs at least one operand}}
  // expected-error@+1 {{failed to infer returned types}}
  %r = prim.concatenate  {dimension = 0 : i64} : () -> tensor<2xf32>
  return %r : tensor<2xf32>
}
