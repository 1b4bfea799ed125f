// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.iota {dimension = 1 : i64} : () -> tensor<2x3xi32>
func.func @case0() -> tensor<2x3xi32> {
  %r = prim.iota {dimension = 1 : i64} : () -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}
