// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.arg_window %arg0 {dilations = array<i64: 1, 2>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 1>, strides = array<i64: 1, 1>, window = array<i64: 1, 2>} : (tensor<2x5xf32>) -> tensor<2x4xi8>
func.func @case0(%a: tensor<2x5xf32>) -> tensor<2x4xi8> {
  %r = prim.arg_window %a {dilations = array<i64: 1, 2>, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 1>, strides = array<i64: 1, 1>, window = array<i64: 1, 2>} : (tensor<2x5xf32>) -> tensor<2x4xi8>
  return %r : tensor<2x4xi8>
}
