// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.pivoted_rows %arg0 {rows = 5 : i64} : (tensor<2x3xi32>) -> tensor<2x5xi64>
func.func @case0(%a: tensor<2x3xi32>) -> tensor<2x5xi64> {
  %r = prim.pivoted_rows %a {rows = 5 : i64} : (tensor<2x3xi32>) -> tensor<2x5xi64>
  return %r : tensor<2x5xi64>
}
