// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.cholesky %arg0 {check_errors = true} : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>)
func.func @case0(%a: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>) {
  %r:2 = prim.cholesky %a {check_errors = true} : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>)
  return %r#0, %r#1 : tensor<2x3x3xf32>, tensor<2xi32>
}

// CHECK-LABEL: @case1
// CHECK: prim.cholesky %arg0 {check_errors = false} : (tensor<0x4x4xf64>) -> (tensor<0x4x4xf64>, tensor<0xi32>)
func.func @case1(%a: tensor<0x4x4xf64>) -> (tensor<0x4x4xf64>, tensor<0xi32>) {
  %r:2 = prim.cholesky %a {check_errors = false} : (tensor<0x4x4xf64>) -> (tensor<0x4x4xf64>, tensor<0xi32>)
  return %r#0, %r#1 : tensor<0x4x4xf64>, tensor<0xi32>
}
