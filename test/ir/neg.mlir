// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.neg %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @case0(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = prim.neg %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @case1
// CHECK: prim.neg %arg0 : (tensor<4xi32>) -> tensor<4xi32>
func.func @case1(%a: tensor<4xi32>) -> tensor<4xi32> {
  %r = prim.neg %a : (tensor<4xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// CHECK-LABEL: @case2
// CHECK: prim.neg %arg0 : (tensor<4xui8>) -> tensor<4xui8>
func.func @case2(%a: tensor<4xui8>) -> tensor<4xui8> {
  %r = prim.neg %a : (tensor<4xui8>) -> tensor<4xui8>
  return %r : tensor<4xui8>
}
