// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.convert %arg0 : (tensor<4xf32>) -> tensor<4xbf16>
func.func @case0(%a: tensor<4xf32>) -> tensor<4xbf16> {
  %r = prim.convert %a : (tensor<4xf32>) -> tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// CHECK-LABEL: @case1
// CHECK: prim.convert %arg0 : (tensor<4xi1>) -> tensor<4xf32>
func.func @case1(%a: tensor<4xi1>) -> tensor<4xf32> {
  %r = prim.convert %a : (tensor<4xi1>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @case2
// CHECK: prim.convert %arg0 : (tensor<4xf64>) -> tensor<4xui8>
func.func @case2(%a: tensor<4xf64>) -> tensor<4xui8> {
  %r = prim.convert %a : (tensor<4xf64>) -> tensor<4xui8>
  return %r : tensor<4xui8>
}
