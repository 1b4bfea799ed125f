// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.concatenate %arg0, %arg1, %arg2 {dimension = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x0xf32>) -> tensor<2x4xf32>
func.func @case0(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>, %c: tensor<2x0xf32>) -> tensor<2x4xf32> {
  %r = prim.concatenate %a, %b, %c {dimension = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x0xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
