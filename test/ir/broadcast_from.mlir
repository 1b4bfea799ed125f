// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @first
// CHECK: prim.broadcast_from %arg0 : (tensor<4xi64>) -> tensor<4xi64>
func.func @first(%a: tensor<4xi64>) -> tensor<4xi64> {
  %0 = prim.broadcast_from %a : (tensor<4xi64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
