// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.jacobi_svd %arg0 : (tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x3xf32>)
func.func @case0(%a: tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x3xf32>) {
  %r:2 = prim.jacobi_svd %a : (tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x3xf32>)
  return %r#0, %r#1 : tensor<2x3x5xf32>, tensor<2x3x3xf32>
}
