// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.reduce sum %arg0 {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
func.func @case0(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  %r = prim.reduce sum %a {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: @case1
// CHECK: prim.reduce prod %arg0 {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
func.func @case1(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  %r = prim.reduce prod %a {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: @case2
// CHECK: prim.reduce max %arg0 {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
func.func @case2(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  %r = prim.reduce max %a {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: @case3
// CHECK: prim.reduce min %arg0 {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
func.func @case3(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  %r = prim.reduce min %a {dimensions = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: @case4
// CHECK: prim.reduce all %arg0 {dimensions = array<i64: 0, 1>} : (tensor<2x3xi1>) -> tensor<i1>
func.func @case4(%a: tensor<2x3xi1>) -> tensor<i1> {
  %r = prim.reduce all %a {dimensions = array<i64: 0, 1>} : (tensor<2x3xi1>) -> tensor<i1>
  return %r : tensor<i1>
}

// CHECK-LABEL: @case5
// CHECK: prim.reduce any %arg0 {dimensions = array<i64: 0, 1>} : (tensor<2x3xi1>) -> tensor<i1>
func.func @case5(%a: tensor<2x3xi1>) -> tensor<i1> {
  %r = prim.reduce any %a {dimensions = array<i64: 0, 1>} : (tensor<2x3xi1>) -> tensor<i1>
  return %r : tensor<i1>
}
