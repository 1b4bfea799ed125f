// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.slice %arg0 {limits = array<i64: 3, 6>, starts = array<i64: 1, 0>, strides = array<i64: 1, 2>} : (tensor<5x6xf32>) -> tensor<2x3xf32>
func.func @case0(%a: tensor<5x6xf32>) -> tensor<2x3xf32> {
  %r = prim.slice %a {limits = array<i64: 3, 6>, starts = array<i64: 1, 0>, strides = array<i64: 1, 2>} : (tensor<5x6xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
