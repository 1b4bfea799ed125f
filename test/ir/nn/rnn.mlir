// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.rnn %arg0, %arg1, %arg2 h %arg3 {batch_first = true, direction = #nn<rnn_direction reverse>, relu = true} : (tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x2xf32>, tensor<1x1x2xf32>) -> (tensor<1x2x1x2xf32>, tensor<1x1x2xf32>)
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.transpose %arg0 {permutation = array<i64: 1, 0, 2>} : (tensor<1x2x3xf32>) -> tensor<2x1x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.slice %arg1 {limits = array<i64: 1, 2, 3>, starts = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.reshape [[V1]] : (tensor<1x2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.dot_general [[V0]], [[V2]] {lhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<2x1x3xf32>, tensor<2x3xf32>) -> tensor<2x1x2xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.slice %arg2 {limits = array<i64: 1, 2, 2>, starts = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.reshape [[V4]] : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.transpose %arg3 {permutation = array<i64: 1, 0, 2>} : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.slice [[V6]] {limits = array<i64: 1, 1, 2>, starts = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.reshape [[V7]] : (tensor<1x1x2xf32>) -> tensor<1x2xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.slice [[V3]] {limits = array<i64: 2, 1, 2>, starts = array<i64: 1, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x1x2xf32>) -> tensor<1x1x2xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.reshape [[V9]] : (tensor<1x1x2xf32>) -> tensor<1x2xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.dot_general [[V8]], [[V5]] {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.add [[V10]], [[V11]] : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.constant dense<0.000000e+00> : tensor<1x2xf32>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.max [[V12]], [[V13]] : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.slice [[V3]] {limits = array<i64: 1, 1, 2>, starts = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : (tensor<2x1x2xf32>) -> tensor<1x1x2xf32>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.reshape [[V15]] : (tensor<1x1x2xf32>) -> tensor<1x2xf32>
// DECOMPOSE-NEXT: [[V17:%.+]] = prim.dot_general [[V14]], [[V5]] {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
// DECOMPOSE-NEXT: [[V18:%.+]] = prim.add [[V16]], [[V17]] : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
// DECOMPOSE-NEXT: [[V19:%.+]] = prim.max [[V18]], [[V13]] : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
// DECOMPOSE-NEXT: [[V20:%.+]] = prim.reshape [[V19]] : (tensor<1x2xf32>) -> tensor<1x1x2xf32>
// DECOMPOSE-NEXT: [[V21:%.+]] = prim.reshape [[V14]] : (tensor<1x2xf32>) -> tensor<1x1x2xf32>
// DECOMPOSE-NEXT: [[V22:%.+]] = prim.concatenate [[V20]], [[V21]] {dimension = 0 : i64} : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<2x1x2xf32>
// DECOMPOSE-NEXT: [[V23:%.+]] = prim.reshape [[V22]] : (tensor<2x1x2xf32>) -> tensor<2x1x1x2xf32>
// DECOMPOSE-NEXT: [[V24:%.+]] = prim.transpose [[V23]] {permutation = array<i64: 2, 0, 1, 3>} : (tensor<2x1x1x2xf32>) -> tensor<1x2x1x2xf32>
// DECOMPOSE-NEXT: [[V25:%.+]] = prim.transpose [[V20]] {permutation = array<i64: 1, 0, 2>} : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
// DECOMPOSE-NEXT: return [[V24]], [[V25]] : tensor<1x2x1x2xf32>, tensor<1x1x2xf32>
func.func @f(%a: tensor<1x2x3xf32>, %b: tensor<1x2x3xf32>, %c: tensor<1x2x2xf32>, %d: tensor<1x1x2xf32>) -> (tensor<1x2x1x2xf32>, tensor<1x1x2xf32>) {
  %r:2 = nn.rnn %a, %b, %c h %d {batch_first = true, direction = #nn<rnn_direction reverse>, relu = true} : (tensor<1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x2xf32>, tensor<1x1x2xf32>) -> (tensor<1x2x1x2xf32>, tensor<1x1x2xf32>)
  return %r#0, %r#1 : tensor<1x2x1x2xf32>, tensor<1x1x2xf32>
}
