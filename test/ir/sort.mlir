// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.sort %arg0 {descending = true, dimension = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
func.func @case0(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>) {
  %r:2 = prim.sort %a {descending = true, dimension = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xi64>
}

// CHECK-LABEL: @case1
// CHECK: prim.sort %arg0 {descending = false, dimension = 0 : i64, range = array<i64: 1, 2>} : (tensor<3x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xi64>)
func.func @case1(%a: tensor<3x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xi64>) {
  %r:2 = prim.sort %a {descending = false, dimension = 0 : i64, range = array<i64: 1, 2>} : (tensor<3x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xi64>)
  return %r#0, %r#1 : tensor<1x4xf32>, tensor<1x4xi64>
}
