// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.is_finite %arg0 : (tensor<4xf16>) -> tensor<4xi1>
func.func @case0(%a: tensor<4xf16>) -> tensor<4xi1> {
  %r = prim.is_finite %a : (tensor<4xf16>) -> tensor<4xi1>
  return %r : tensor<4xi1>
}
