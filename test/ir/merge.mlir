// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.merge %arg0 {descending = false, dimension = 1 : i64, run = 2 : i64} : (tensor<2x7xf32>) -> (tensor<2x7xf32>, tensor<2x7xi64>)
func.func @case0(%a: tensor<2x7xf32>) -> (tensor<2x7xf32>, tensor<2x7xi64>) {
  %r:2 = prim.merge %a {descending = false, dimension = 1 : i64, run = 2 : i64} : (tensor<2x7xf32>) -> (tensor<2x7xf32>, tensor<2x7xi64>)
  return %r#0, %r#1 : tensor<2x7xf32>, tensor<2x7xi64>
}
