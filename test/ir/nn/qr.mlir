// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: nn.qr %arg0 {complete = false} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3x3xf32>)
func.func @case0(%a: tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3x3xf32>) {
  %r:2 = nn.qr %a {complete = false} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x3x3xf32>)
  return %r#0, %r#1 : tensor<2x5x3xf32>, tensor<2x3x3xf32>
}

// CHECK-LABEL: @case1
// CHECK: nn.qr %arg0 {complete = true} : (tensor<2x5x3xf32>) -> (tensor<2x5x5xf32>, tensor<2x5x3xf32>)
func.func @case1(%a: tensor<2x5x3xf32>) -> (tensor<2x5x5xf32>, tensor<2x5x3xf32>) {
  %r:2 = nn.qr %a {complete = true} : (tensor<2x5x3xf32>) -> (tensor<2x5x5xf32>, tensor<2x5x3xf32>)
  return %r#0, %r#1 : tensor<2x5x5xf32>, tensor<2x5x3xf32>
}

// CHECK-LABEL: @case2
// CHECK: nn.qr %arg0 {complete = false} : (tensor<2x3x5xf64>) -> (tensor<2x3x3xf64>, tensor<2x3x5xf64>)
func.func @case2(%a: tensor<2x3x5xf64>) -> (tensor<2x3x3xf64>, tensor<2x3x5xf64>) {
  %r:2 = nn.qr %a {complete = false} : (tensor<2x3x5xf64>) -> (tensor<2x3x3xf64>, tensor<2x3x5xf64>)
  return %r#0, %r#1 : tensor<2x3x3xf64>, tensor<2x3x5xf64>
}
