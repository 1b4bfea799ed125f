// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.bitcast %arg0 : (tensor<4xf32>) -> tensor<4xui32>
func.func @case0(%a: tensor<4xf32>) -> tensor<4xui32> {
  %r = prim.bitcast %a : (tensor<4xf32>) -> tensor<4xui32>
  return %r : tensor<4xui32>
}
