// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @mean_of_none() {
  // expected-error@+2 {{'prim.all_reduce' op needs at least one operand}}
  // expected-error@+1 {{failed to infer returned types}}
  prim.all_reduce : () -> ()
  return
}

// -----

func.func @none_from_the_first() {
  // expected-error@+2 {{'prim.broadcast_from' op needs at least one operand}}
  // expected-error@+1 {{failed to infer returned types}}
  prim.broadcast_from : () -> ()
  return
}
