// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @matrices
// CHECK: nn.matmul %arg0, %arg1 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// DECOMPOSE-LABEL: @matrices
// DECOMPOSE: [[V0:%.+]] = prim.dot_general %arg0, %arg1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// DECOMPOSE-NEXT: return [[V0]] : tensor<2x4xf32>
func.func @matrices(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %r = nn.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: @column
// CHECK: nn.matmul %arg0, %arg1 : (tensor<5x2x3xf32>, tensor<3xf32>) -> tensor<5x2xf32>
// DECOMPOSE-LABEL: @column
// DECOMPOSE: [[V0:%.+]] = prim.reshape %arg1 : (tensor<3xf32>) -> tensor<3x1xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.dot_general %arg0, [[V0]] {lhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<5x2x3xf32>, tensor<3x1xf32>) -> tensor<5x2x1xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.reshape [[V1]] : (tensor<5x2x1xf32>) -> tensor<5x2xf32>
// DECOMPOSE-NEXT: return [[V2]] : tensor<5x2xf32>
func.func @column(%a: tensor<5x2x3xf32>, %b: tensor<3xf32>) -> tensor<5x2xf32> {
  %r = nn.matmul %a, %b : (tensor<5x2x3xf32>, tensor<3xf32>) -> tensor<5x2xf32>
  return %r : tensor<5x2xf32>
}

// CHECK-LABEL: @shared_right
// CHECK: nn.matmul %arg0, %arg1 : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
// DECOMPOSE-LABEL: @shared_right
// DECOMPOSE: [[V0:%.+]] = prim.dot_general %arg0, %arg1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
// DECOMPOSE-NEXT: return [[V0]] : tensor<5x2x4xf32>
func.func @shared_right(%a: tensor<5x2x3xf32>, %b: tensor<3x4xf32>) -> tensor<5x2x4xf32> {
  %r = nn.matmul %a, %b : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  return %r : tensor<5x2x4xf32>
}

// CHECK-LABEL: @batch
// CHECK: nn.matmul %arg0, %arg1 : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
// DECOMPOSE-LABEL: @batch
// DECOMPOSE: [[V0:%.+]] = prim.dot_general %arg0, %arg1 {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>} : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
// DECOMPOSE-NEXT: return [[V0]] : tensor<5x2x4xf32>
func.func @batch(%a: tensor<5x2x3xf32>, %b: tensor<5x3x4xf32>) -> tensor<5x2x4xf32> {
  %r = nn.matmul %a, %b : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return %r : tensor<5x2x4xf32>
}

// CHECK-LABEL: @broadcast_left
// CHECK: nn.matmul %arg0, %arg1 : (tensor<2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
// DECOMPOSE-LABEL: @broadcast_left
// DECOMPOSE: [[V0:%.+]] = prim.broadcast %arg0 {dimensions = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<5x2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.dot_general [[V0]], %arg1 {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>} : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
// DECOMPOSE-NEXT: return [[V1]] : tensor<5x2x4xf32>
func.func @broadcast_left(%a: tensor<2x3xf32>, %b: tensor<5x3x4xf32>) -> tensor<5x2x4xf32> {
  %r = nn.matmul %a, %b : (tensor<2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return %r : tensor<5x2x4xf32>
}
