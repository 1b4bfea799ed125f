// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: nn.svd %arg0 {full = false} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>)
func.func @case0(%a: tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>) {
  %r:3 = nn.svd %a {full = false} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x5x3xf32>, tensor<2x3xf32>, tensor<2x3x3xf32>
}

// CHECK-LABEL: @case1
// CHECK: nn.svd %arg0 {full = true} : (tensor<2x3x5xf32>) -> (tensor<2x3x3xf32>, tensor<2x3xf32>, tensor<2x5x5xf32>)
func.func @case1(%a: tensor<2x3x5xf32>) -> (tensor<2x3x3xf32>, tensor<2x3xf32>, tensor<2x5x5xf32>) {
  %r:3 = nn.svd %a {full = true} : (tensor<2x3x5xf32>) -> (tensor<2x3x3xf32>, tensor<2x3xf32>, tensor<2x5x5xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x3x3xf32>, tensor<2x3xf32>, tensor<2x5x5xf32>
}
