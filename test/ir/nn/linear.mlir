// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.linear %arg0, %arg1 bias %arg2 {transpose_w = true} : (tensor<2x5x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.dot_general %arg0, %arg1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<2x5x3xf32>, tensor<4x3xf32>) -> tensor<2x5x4xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.broadcast %arg2 {dimensions = array<i64: 2>} : (tensor<4xf32>) -> tensor<2x5x4xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.add [[V0]], [[V1]] : (tensor<2x5x4xf32>, tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
// DECOMPOSE-NEXT: return [[V2]] : tensor<2x5x4xf32>
func.func @f(%a: tensor<2x5x3xf32>, %b: tensor<4x3xf32>, %c: tensor<4xf32>) -> tensor<2x5x4xf32> {
  %r = nn.linear %a, %b bias %c {transpose_w = true} : (tensor<2x5x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<2x5x4xf32>
  return %r : tensor<2x5x4xf32>
}

// CHECK-LABEL: @plain
// CHECK: nn.linear %arg0, %arg1 {transpose_w = false} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// DECOMPOSE-LABEL: @plain
// DECOMPOSE: [[V0:%.+]] = prim.dot_general %arg0, %arg1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// DECOMPOSE-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @plain(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %r = nn.linear %a, %b {transpose_w = false} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
