// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.add %arg0, %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @case0(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = prim.add %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @case1
// CHECK: prim.add %arg0, %arg1 : (tensor<i64>, tensor<i64>) -> tensor<i64>
func.func @case1(%a: tensor<i64>, %b: tensor<i64>) -> tensor<i64> {
  %r = prim.add %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i64>
  return %r : tensor<i64>
}

// CHECK-LABEL: @case2
// CHECK: prim.add %arg0, %arg1 : (tensor<0x2xui8>, tensor<0x2xui8>) -> tensor<0x2xui8>
func.func @case2(%a: tensor<0x2xui8>, %b: tensor<0x2xui8>) -> tensor<0x2xui8> {
  %r = prim.add %a, %b : (tensor<0x2xui8>, tensor<0x2xui8>) -> tensor<0x2xui8>
  return %r : tensor<0x2xui8>
}
