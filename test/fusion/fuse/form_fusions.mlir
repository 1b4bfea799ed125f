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

// A broadcast and a constant are computed in each kernel: what else reads them shares nothing with it.
// CHECK-LABEL: @only_computed_in_common
// CHECK-COUNT-2: prim.fusion loop "mul_sub"
func.func @only_computed_in_common(%p: tensor<512x512xf32>, %q: tensor<512x512xf32>, %rate: tensor<f32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %0 = prim.broadcast %rate {dimensions = array<i64>} : (tensor<f32>) -> tensor<512x512xf32>
  %1 = prim.constant dense<0.5> : tensor<512x512xf32>
  %2 = prim.mul %p, %0 : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %3 = prim.sub %2, %1 : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %4 = prim.mul %q, %0 : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %5 = prim.sub %4, %1 : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %3, %5 : tensor<512x512xf32>, tensor<512x512xf32>
}
