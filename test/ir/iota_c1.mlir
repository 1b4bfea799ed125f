// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @too_great() -> tensor<2x3xi32> {
  // expected-error@+1 {{dimension 2 is out of range for rank 2}}
  %r = prim.iota {dimension = 2 : i64} : () -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// -----

func.func @negative() -> tensor<2x3xi32> {
  // expected-error@+1 {{dimension -1 is out of range for rank 2}}
  %r = prim.iota {dimension = -1 : i64} : () -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}
