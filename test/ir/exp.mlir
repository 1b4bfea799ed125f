// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.exp %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @case0(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = prim.exp %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @case1
// CHECK: prim.exp %arg0 : (tensor<bf16>) -> tensor<bf16>
func.func @case1(%a: tensor<bf16>) -> tensor<bf16> {
  %r = prim.exp %a : (tensor<bf16>) -> tensor<bf16>
  return %r : tensor<bf16>
}
