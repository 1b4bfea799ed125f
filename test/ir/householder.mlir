// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.householder %arg0 : (tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xf32>)
func.func @case0(%a: tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xf32>) {
  %r:2 = prim.householder %a : (tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xf32>)
  return %r#0, %r#1 : tensor<2x3x5xf32>, tensor<2x3xf32>
}
