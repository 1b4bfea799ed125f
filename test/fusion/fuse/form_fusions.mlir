// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --form-fusions | FileCheck %s

// Nobody reads the difference or its square: no kernel computes them.
// CHECK-LABEL: @unread
// CHECK-NEXT: %[[Y:.*]] = prim.fusion loop "neg"(%arg0)
// CHECK-NOT: prim.fusion
// CHECK-NOT: prim.sub
// CHECK: return %[[Y]]
func.func @unread(%x: tensor<64x64xf32>, %m: tensor<64xf32>) -> tensor<64x64xf32> {
  %0 = prim.broadcast %m {dimensions = array<i64: 1>} : (tensor<64xf32>) -> tensor<64x64xf32>
  %1 = prim.sub %x, %0 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = prim.mul %1, %1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = prim.neg %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}
