// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.constant dense<1.500000e+00> : tensor<2x3xf32>
func.func @case0() -> tensor<2x3xf32> {
  %r = prim.constant dense<1.500000e+00> : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @case1
// CHECK: prim.constant dense<[true, false]> : tensor<2xi1>
func.func @case1() -> tensor<2xi1> {
  %r = prim.constant dense<[true, false]> : tensor<2xi1>
  return %r : tensor<2xi1>
}
