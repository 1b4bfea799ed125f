// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.linear_recurrence %arg0, %arg1 : (tensor<2x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x3x5xf32>
func.func @case0(%x: tensor<2x3x5xf32>, %a: tensor<2x4x3x5xf32>) -> tensor<2x3x5xf32> {
  %r = prim.linear_recurrence %x, %a : (tensor<2x3x5xf32>, tensor<2x4x3x5xf32>) -> tensor<2x3x5xf32>
  return %r : tensor<2x3x5xf32>
}
