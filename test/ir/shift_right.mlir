// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.shift_right %arg0, %arg1 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
func.func @case0(%a: tensor<4xui32>, %b: tensor<4xui32>) -> tensor<4xui32> {
  %r = prim.shift_right %a, %b : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  return %r : tensor<4xui32>
}
