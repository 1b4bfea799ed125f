// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.reshape %arg0 : (tensor<2x6xf32>) -> tensor<3x4xf32>
func.func @case0(%a: tensor<2x6xf32>) -> tensor<3x4xf32> {
  %r = prim.reshape %a : (tensor<2x6xf32>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// CHECK-LABEL: @case1
// CHECK: prim.reshape %arg0 : (tensor<1xi1>) -> tensor<i1>
func.func @case1(%a: tensor<1xi1>) -> tensor<i1> {
  %r = prim.reshape %a : (tensor<1xi1>) -> tensor<i1>
  return %r : tensor<i1>
}

// CHECK-LABEL: @case2
// CHECK: prim.reshape %arg0 : (tensor<0x3xf32>) -> tensor<5x0xf32>
func.func @case2(%a: tensor<0x3xf32>) -> tensor<5x0xf32> {
  %r = prim.reshape %a : (tensor<0x3xf32>) -> tensor<5x0xf32>
  return %r : tensor<5x0xf32>
}
