// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.cumulative sum %arg0 {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @case0(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = prim.cumulative sum %a {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @case1
// CHECK: prim.cumulative prod %arg0 {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @case1(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = prim.cumulative prod %a {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @case2
// CHECK: prim.cumulative max %arg0 {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @case2(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = prim.cumulative max %a {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @case3
// CHECK: prim.cumulative min %arg0 {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @case3(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = prim.cumulative min %a {dimension = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
