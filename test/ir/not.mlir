// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.not %arg0 : (tensor<4xi1>) -> tensor<4xi1>
func.func @case0(%a: tensor<4xi1>) -> tensor<4xi1> {
  %r = prim.not %a : (tensor<4xi1>) -> tensor<4xi1>
  return %r : tensor<4xi1>
}

// CHECK-LABEL: @case1
// CHECK: prim.not %arg0 : (tensor<4xui32>) -> tensor<4xui32>
func.func @case1(%a: tensor<4xui32>) -> tensor<4xui32> {
  %r = prim.not %a : (tensor<4xui32>) -> tensor<4xui32>
  return %r : tensor<4xui32>
}
