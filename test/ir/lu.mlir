// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.lu %arg0 {check_errors = false} : (tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xi32>, tensor<2xi32>)
func.func @case0(%a: tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xi32>, tensor<2xi32>) {
  %r:3 = prim.lu %a {check_errors = false} : (tensor<2x3x5xf32>) -> (tensor<2x3x5xf32>, tensor<2x3xi32>, tensor<2xi32>)
  return %r#0, %r#1, %r#2 : tensor<2x3x5xf32>, tensor<2x3xi32>, tensor<2xi32>
}

// CHECK-LABEL: @case1
// CHECK: prim.lu %arg0 {check_errors = true} : (tensor<1x5x2xf64>) -> (tensor<1x5x2xf64>, tensor<1x2xi32>, tensor<1xi32>)
func.func @case1(%a: tensor<1x5x2xf64>) -> (tensor<1x5x2xf64>, tensor<1x2xi32>, tensor<1xi32>) {
  %r:3 = prim.lu %a {check_errors = true} : (tensor<1x5x2xf64>) -> (tensor<1x5x2xf64>, tensor<1x2xi32>, tensor<1xi32>)
  return %r#0, %r#1, %r#2 : tensor<1x5x2xf64>, tensor<1x2xi32>, tensor<1xi32>
}
