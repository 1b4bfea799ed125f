// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.arg_reduce max %arg0 {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
func.func @case0(%a: tensor<2x3xf32>) -> tensor<2xi64> {
  %r = prim.arg_reduce max %a {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
  return %r : tensor<2xi64>
}

// CHECK-LABEL: @case1
// CHECK: prim.arg_reduce min %arg0 {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
func.func @case1(%a: tensor<2x3xf32>) -> tensor<2xi64> {
  %r = prim.arg_reduce min %a {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
  return %r : tensor<2xi64>
}
