// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @plain
// CHECK: nn.attention %arg0, %arg1, %arg2 {causal = false, scale = 5.000000e-01 : f64} : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x6xf32>) -> tensor<1x2x3x6xf32>
// DECOMPOSE-LABEL: @plain
// DECOMPOSE: [[V0:%.+]] = prim.dot_general %arg0, %arg1 {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 3>} : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x3x5xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<5.000000e-01> : tensor<1x2x3x5xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.mul [[V0]], [[V1]] : (tensor<1x2x3x5xf32>, tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.reduce  max [[V2]] {dimensions = array<i64: 3>} : (tensor<1x2x3x5xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.constant dense<0xFF800000> : tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.compare  eq [[V3]], [[V4]] : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xi1>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.constant dense<0.000000e+00> : tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.select [[V5]], [[V6]], [[V3]] : (tensor<1x2x3xi1>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.broadcast [[V7]] {dimensions = array<i64: 0, 1, 2>} : (tensor<1x2x3xf32>) -> tensor<1x2x3x5xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.sub [[V2]], [[V8]] : (tensor<1x2x3x5xf32>, tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.exp [[V9]] : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.reduce  sum [[V10]] {dimensions = array<i64: 3>} : (tensor<1x2x3x5xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.compare  eq [[V11]], [[V6]] : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xi1>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.constant dense<1.000000e+00> : tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.select [[V12]], [[V13]], [[V11]] : (tensor<1x2x3xi1>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.broadcast [[V14]] {dimensions = array<i64: 0, 1, 2>} : (tensor<1x2x3xf32>) -> tensor<1x2x3x5xf32>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.div [[V10]], [[V15]] : (tensor<1x2x3x5xf32>, tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
// DECOMPOSE-NEXT: [[V17:%.+]] = prim.dot_general [[V16]], %arg2 {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 2>} : (tensor<1x2x3x5xf32>, tensor<1x2x5x6xf32>) -> tensor<1x2x3x6xf32>
// DECOMPOSE-NEXT: return [[V17]] : tensor<1x2x3x6xf32>
func.func @plain(%a: tensor<1x2x3x4xf32>, %b: tensor<1x2x5x4xf32>, %c: tensor<1x2x5x6xf32>) -> tensor<1x2x3x6xf32> {
  %r = nn.attention %a, %b, %c {causal = false, scale = 5.0e-01 : f64} : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x6xf32>) -> tensor<1x2x3x6xf32>
  return %r : tensor<1x2x3x6xf32>
}

// CHECK-LABEL: @causal_and_mask
// CHECK: nn.attention %arg0, %arg1, %arg2 mask %arg3 {causal = true, scale = 5.000000e-01 : f64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3x3xi1>) -> tensor<1x2x3x4xf32>
// DECOMPOSE-LABEL: @causal_and_mask
// DECOMPOSE: [[V0:%.+]] = prim.dot_general %arg0, %arg1 {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 3>} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<5.000000e-01> : tensor<1x2x3x3xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.mul [[V0]], [[V1]] : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.iota  {dimension = 0 : i64} : () -> tensor<3x3xi32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.iota  {dimension = 1 : i64} : () -> tensor<3x3xi32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.compare  le [[V4]], [[V3]] : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.broadcast [[V5]] {dimensions = array<i64: 2, 3>} : (tensor<3x3xi1>) -> tensor<1x2x3x3xi1>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.broadcast %arg3 {dimensions = array<i64: 2, 3>} : (tensor<3x3xi1>) -> tensor<1x2x3x3xi1>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.and [[V6]], [[V7]] : (tensor<1x2x3x3xi1>, tensor<1x2x3x3xi1>) -> tensor<1x2x3x3xi1>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.constant dense<0xFF800000> : tensor<1x2x3x3xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.select [[V8]], [[V2]], [[V9]] : (tensor<1x2x3x3xi1>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.reduce  max [[V10]] {dimensions = array<i64: 3>} : (tensor<1x2x3x3xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.constant dense<0xFF800000> : tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.compare  eq [[V11]], [[V12]] : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xi1>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.constant dense<0.000000e+00> : tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.select [[V13]], [[V14]], [[V11]] : (tensor<1x2x3xi1>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.broadcast [[V15]] {dimensions = array<i64: 0, 1, 2>} : (tensor<1x2x3xf32>) -> tensor<1x2x3x3xf32>
// DECOMPOSE-NEXT: [[V17:%.+]] = prim.sub [[V10]], [[V16]] : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
// DECOMPOSE-NEXT: [[V18:%.+]] = prim.exp [[V17]] : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
// DECOMPOSE-NEXT: [[V19:%.+]] = prim.reduce  sum [[V18]] {dimensions = array<i64: 3>} : (tensor<1x2x3x3xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V20:%.+]] = prim.compare  eq [[V19]], [[V14]] : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xi1>
// DECOMPOSE-NEXT: [[V21:%.+]] = prim.constant dense<1.000000e+00> : tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V22:%.+]] = prim.select [[V20]], [[V21]], [[V19]] : (tensor<1x2x3xi1>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V23:%.+]] = prim.broadcast [[V22]] {dimensions = array<i64: 0, 1, 2>} : (tensor<1x2x3xf32>) -> tensor<1x2x3x3xf32>
// DECOMPOSE-NEXT: [[V24:%.+]] = prim.div [[V18]], [[V23]] : (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
// DECOMPOSE-NEXT: [[V25:%.+]] = prim.dot_general [[V24]], %arg2 {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 2>} : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
// DECOMPOSE-NEXT: return [[V25]] : tensor<1x2x3x4xf32>
func.func @causal_and_mask(%a: tensor<1x2x3x4xf32>, %b: tensor<1x2x3x4xf32>, %c: tensor<1x2x3x4xf32>, %d: tensor<3x3xi1>) -> tensor<1x2x3x4xf32> {
  %r = nn.attention %a, %b, %c mask %d {causal = true, scale = 5.0e-01 : f64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3x3xi1>) -> tensor<1x2x3x4xf32>
  return %r : tensor<1x2x3x4xf32>
}

// CHECK-LABEL: @grouped
// CHECK: nn.attention %arg0, %arg1, %arg2 mask %arg3 {causal = false, scale = 5.000000e-01 : f64, softcap = 2.000000e+00 : f64} : (tensor<1x4x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3x3xf32>) -> tensor<1x4x3x4xf32>
// DECOMPOSE-LABEL: @grouped
// DECOMPOSE: [[V0:%.+]] = prim.reshape %arg0 : (tensor<1x4x3x4xf32>) -> tensor<1x2x2x3x4xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.dot_general [[V0]], %arg1 {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 4>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 3>} : (tensor<1x2x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x2x3x3xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.reshape [[V1]] : (tensor<1x2x2x3x3xf32>) -> tensor<1x4x3x3xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.constant dense<5.000000e-01> : tensor<1x4x3x3xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.mul [[V2]], [[V3]] : (tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.mul [[V4]], [[V3]] : (tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.tanh [[V5]] : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.constant dense<2.000000e+00> : tensor<1x4x3x3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.mul [[V7]], [[V6]] : (tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.broadcast %arg3 {dimensions = array<i64: 2, 3>} : (tensor<3x3xf32>) -> tensor<1x4x3x3xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.add [[V8]], [[V9]] : (tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.reduce  max [[V10]] {dimensions = array<i64: 3>} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.constant dense<0xFF800000> : tensor<1x4x3xf32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.compare  eq [[V11]], [[V12]] : (tensor<1x4x3xf32>, tensor<1x4x3xf32>) -> tensor<1x4x3xi1>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.constant dense<0.000000e+00> : tensor<1x4x3xf32>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.select [[V13]], [[V14]], [[V11]] : (tensor<1x4x3xi1>, tensor<1x4x3xf32>, tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.broadcast [[V15]] {dimensions = array<i64: 0, 1, 2>} : (tensor<1x4x3xf32>) -> tensor<1x4x3x3xf32>
// DECOMPOSE-NEXT: [[V17:%.+]] = prim.sub [[V10]], [[V16]] : (tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
// DECOMPOSE-NEXT: [[V18:%.+]] = prim.exp [[V17]] : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
// DECOMPOSE-NEXT: [[V19:%.+]] = prim.reduce  sum [[V18]] {dimensions = array<i64: 3>} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3xf32>
// DECOMPOSE-NEXT: [[V20:%.+]] = prim.compare  eq [[V19]], [[V14]] : (tensor<1x4x3xf32>, tensor<1x4x3xf32>) -> tensor<1x4x3xi1>
// DECOMPOSE-NEXT: [[V21:%.+]] = prim.constant dense<1.000000e+00> : tensor<1x4x3xf32>
// DECOMPOSE-NEXT: [[V22:%.+]] = prim.select [[V20]], [[V21]], [[V19]] : (tensor<1x4x3xi1>, tensor<1x4x3xf32>, tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
// DECOMPOSE-NEXT: [[V23:%.+]] = prim.broadcast [[V22]] {dimensions = array<i64: 0, 1, 2>} : (tensor<1x4x3xf32>) -> tensor<1x4x3x3xf32>
// DECOMPOSE-NEXT: [[V24:%.+]] = prim.div [[V18]], [[V23]] : (tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
// DECOMPOSE-NEXT: [[V25:%.+]] = prim.reshape [[V24]] : (tensor<1x4x3x3xf32>) -> tensor<1x2x2x3x3xf32>
// DECOMPOSE-NEXT: [[V26:%.+]] = prim.dot_general [[V25]], %arg2 {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 4>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 2>} : (tensor<1x2x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x2x3x4xf32>
// DECOMPOSE-NEXT: [[V27:%.+]] = prim.reshape [[V26]] : (tensor<1x2x2x3x4xf32>) -> tensor<1x4x3x4xf32>
// DECOMPOSE-NEXT: return [[V27]] : tensor<1x4x3x4xf32>
func.func @grouped(%a: tensor<1x4x3x4xf32>, %b: tensor<1x2x3x4xf32>, %c: tensor<1x2x3x4xf32>, %d: tensor<3x3xf32>) -> tensor<1x4x3x4xf32> {
  %r = nn.attention %a, %b, %c mask %d {causal = false, scale = 5.0e-01 : f64, softcap = 2.0 : f64} : (tensor<1x4x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3x3xf32>) -> tensor<1x4x3x4xf32>
  return %r : tensor<1x4x3x4xf32>
}
