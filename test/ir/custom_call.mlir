// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt --form-fusions %s | FileCheck %s --check-prefix=FUSED

// CHECK-LABEL: @call
// CHECK: prim.custom_call "acme::swish" of "libacme.so" {beta = 2.000000e+00 : f64, mode = "fast"}(%0) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i64>)
// Kernels end at it.
// FUSED-LABEL: @call
// FUSED: %[[BEFORE:.*]] = prim.fusion loop "neg"
// FUSED: %[[CALL:.*]]:2 = prim.custom_call "acme::swish" {{.*}}(%[[BEFORE]])
// FUSED: prim.fusion loop "exp"(%[[CALL]]#0)
func.func @call(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i64>) {
  %0 = prim.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1:2 = prim.custom_call "acme::swish" of "libacme.so" {beta = 2.0 : f64, mode = "fast"} (%0)
    : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i64>)
  %2 = prim.exp %1#0 : (tensor<4xf32>) -> tensor<4xf32>
  return %2, %1#1 : tensor<4xf32>, tensor<i64>
}

// Nobody reads it.
// CHECK-LABEL: @unread
// FUSED-LABEL: @unread
// FUSED-NOT: custom_call
func.func @unread(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = prim.custom_call "acme::swish" of "libacme.so" {} (%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
