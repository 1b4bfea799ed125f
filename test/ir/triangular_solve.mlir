// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.triangular_solve %arg0, %arg1 {transpose = true, unit = false, upper = false} : (tensor<2x3x3xf32>, tensor<2x3x7xf32>) -> tensor<2x3x7xf32>
func.func @case0(%a: tensor<2x3x3xf32>, %b: tensor<2x3x7xf32>) -> tensor<2x3x7xf32> {
  %r = prim.triangular_solve %a, %b {transpose = true, unit = false, upper = false} : (tensor<2x3x3xf32>, tensor<2x3x7xf32>) -> tensor<2x3x7xf32>
  return %r : tensor<2x3x7xf32>
}
