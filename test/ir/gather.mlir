// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.gather %arg0, %arg1 {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2x2xi64>) -> tensor<2x2x3xf32>
func.func @case0(%a: tensor<4x3xf32>, %b: tensor<2x2xi64>) -> tensor<2x2x3xf32> {
  %r = prim.gather %a, %b {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2x2xi64>) -> tensor<2x2x3xf32>
  return %r : tensor<2x2x3xf32>
}

// CHECK-LABEL: @case1
// CHECK: prim.gather %arg0, %arg1 {axis = 1 : i64} : (tensor<4x3xui8>, tensor<i32>) -> tensor<4xui8>
func.func @case1(%a: tensor<4x3xui8>, %b: tensor<i32>) -> tensor<4xui8> {
  %r = prim.gather %a, %b {axis = 1 : i64} : (tensor<4x3xui8>, tensor<i32>) -> tensor<4xui8>
  return %r : tensor<4xui8>
}
