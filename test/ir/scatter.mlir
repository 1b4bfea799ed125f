// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @case0
// CHECK: prim.scatter %arg0, %arg1, %arg2 {axis = 0 : i64, kind = #prim<scatter_kind set>} : (tensor<4x2xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
func.func @case0(%a: tensor<4x2xf32>, %b: tensor<3xi32>, %c: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %r = prim.scatter %a, %b, %c {axis = 0 : i64, kind = #prim<scatter_kind set>} : (tensor<4x2xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// CHECK-LABEL: @case1
// CHECK: prim.scatter %arg0, %arg1, %arg2 {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<4x2xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
func.func @case1(%a: tensor<4x2xf32>, %b: tensor<3xi32>, %c: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %r = prim.scatter %a, %b, %c {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<4x2xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// CHECK-LABEL: @case2
// CHECK: prim.scatter %arg0, %arg1, %arg2 {axis = 0 : i64, kind = #prim<scatter_kind mul>} : (tensor<4x2xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
func.func @case2(%a: tensor<4x2xf32>, %b: tensor<3xi32>, %c: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %r = prim.scatter %a, %b, %c {axis = 0 : i64, kind = #prim<scatter_kind mul>} : (tensor<4x2xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// CHECK-LABEL: @case3
// CHECK: prim.scatter %arg0, %arg1, %arg2 {axis = 0 : i64, kind = #prim<scatter_kind max>} : (tensor<4x2xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
func.func @case3(%a: tensor<4x2xf32>, %b: tensor<3xi32>, %c: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %r = prim.scatter %a, %b, %c {axis = 0 : i64, kind = #prim<scatter_kind max>} : (tensor<4x2xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// CHECK-LABEL: @case4
// CHECK: prim.scatter %arg0, %arg1, %arg2 {axis = 0 : i64, kind = #prim<scatter_kind min>} : (tensor<4x2xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
func.func @case4(%a: tensor<4x2xf32>, %b: tensor<3xi32>, %c: tensor<3x2xf32>) -> tensor<4x2xf32> {
  %r = prim.scatter %a, %b, %c {axis = 0 : i64, kind = #prim<scatter_kind min>} : (tensor<4x2xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}
