// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.random_bits %arg0 {stream = 3 : i64} : (tensor<2xi64>) -> tensor<4xui32>
func.func @case0(%a: tensor<2xi64>) -> tensor<4xui32> {
  %r = prim.random_bits %a {stream = 3 : i64} : (tensor<2xi64>) -> tensor<4xui32>
  return %r : tensor<4xui32>
}
