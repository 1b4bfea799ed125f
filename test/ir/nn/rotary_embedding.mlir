// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @halves
// CHECK: nn.rotary_embedding %arg0, %arg1, %arg2 {interleaved = false} : (tensor<1x2x3x4xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<1x2x3x4xf32>
// DECOMPOSE-LABEL: @halves
// DECOMPOSE: [[V0:%.+]] = prim.slice %arg0 {limits = array<i64: 1, 2, 3, 2>, starts = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.slice %arg0 {limits = array<i64: 1, 2, 3, 4>, starts = array<i64: 0, 0, 0, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.broadcast %arg1 {dimensions = array<i64: 2, 3>} : (tensor<3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.broadcast %arg2 {dimensions = array<i64: 2, 3>} : (tensor<3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.mul [[V0]], [[V2]] : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.mul [[V1]], [[V3]] : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.sub [[V4]], [[V5]] : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.mul [[V0]], [[V3]] : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.mul [[V1]], [[V2]] : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.add [[V7]], [[V8]] : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.concatenate [[V6]], [[V9]] {dimension = 3 : i64} : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x4xf32>
// DECOMPOSE-NEXT: return [[V10]] : tensor<1x2x3x4xf32>
func.func @halves(%a: tensor<1x2x3x4xf32>, %b: tensor<3x2xf32>, %c: tensor<3x2xf32>) -> tensor<1x2x3x4xf32> {
  %r = nn.rotary_embedding %a, %b, %c {interleaved = false} : (tensor<1x2x3x4xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<1x2x3x4xf32>
  return %r : tensor<1x2x3x4xf32>
}

// CHECK-LABEL: @partial
// CHECK: nn.rotary_embedding %arg0, %arg1, %arg2 {interleaved = true} : (tensor<1x2x3x6xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x2x3x6xf32>
// DECOMPOSE-LABEL: @partial
// DECOMPOSE: [[V0:%.+]] = prim.slice %arg0 {limits = array<i64: 1, 2, 3, 4>, starts = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 2>} : (tensor<1x2x3x6xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.slice %arg0 {limits = array<i64: 1, 2, 3, 4>, starts = array<i64: 0, 0, 0, 1>, strides = array<i64: 1, 1, 1, 2>} : (tensor<1x2x3x6xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.slice %arg0 {limits = array<i64: 1, 2, 3, 6>, starts = array<i64: 0, 0, 0, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x2x3x6xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.broadcast %arg1 {dimensions = array<i64: 0, 2, 3>} : (tensor<1x3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.broadcast %arg2 {dimensions = array<i64: 0, 2, 3>} : (tensor<1x3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.mul [[V0]], [[V3]] : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.mul [[V1]], [[V4]] : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.sub [[V5]], [[V6]] : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.mul [[V0]], [[V4]] : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.mul [[V1]], [[V3]] : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.add [[V8]], [[V9]] : (tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x2xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.reshape [[V7]] : (tensor<1x2x3x2xf32>) -> tensor<1x2x3x2x1xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.reshape [[V10]] : (tensor<1x2x3x2xf32>) -> tensor<1x2x3x2x1xf32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.concatenate [[V11]], [[V12]] {dimension = 4 : i64} : (tensor<1x2x3x2x1xf32>, tensor<1x2x3x2x1xf32>) -> tensor<1x2x3x2x2xf32>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.reshape [[V13]] : (tensor<1x2x3x2x2xf32>) -> tensor<1x2x3x4xf32>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.concatenate [[V14]], [[V2]] {dimension = 3 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x6xf32>
// DECOMPOSE-NEXT: return [[V15]] : tensor<1x2x3x6xf32>
func.func @partial(%a: tensor<1x2x3x6xf32>, %b: tensor<1x3x2xf32>, %c: tensor<1x3x2xf32>) -> tensor<1x2x3x6xf32> {
  %r = nn.rotary_embedding %a, %b, %c {interleaved = true} : (tensor<1x2x3x6xf32>, tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x2x3x6xf32>
  return %r : tensor<1x2x3x6xf32>
}
