// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --lay-out-variables="target=cuda arch=compute_80 tf32" | FileCheck %s

// Another entry point's matrix product needs the filter as it is: so it stays, with its momentum.
// CHECK-NOT: accc.order
func.func @train_step(
    %w: tensor<4x3x5x5xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
    %m: tensor<4x3x5x5xf32> {accc.name = "momentum.w", accc.role = #prim.role<optimizer_state>},
    %x: tensor<2x3x8x8xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<4x3x5x5xf32> {accc.role = #prim.role<update>, accc.updates = "w"},
        tensor<4x3x5x5xf32> {accc.role = #prim.role<update>, accc.updates = "momentum.w"}) {
  %0 = prim.convolution %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 2, 2>, pad_low = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<2x3x8x8xf32>, tensor<4x3x5x5xf32>) -> tensor<2x4x8x8xf32>
  %1 = prim.convolution_backward_weights %x, %0 {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 2, 2>, pad_low = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<2x3x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<4x3x5x5xf32>
  %2 = prim.add %m, %1 : (tensor<4x3x5x5xf32>, tensor<4x3x5x5xf32>) -> tensor<4x3x5x5xf32>
  %3 = prim.sub %w, %2 : (tensor<4x3x5x5xf32>, tensor<4x3x5x5xf32>) -> tensor<4x3x5x5xf32>
  return %3, %2 : tensor<4x3x5x5xf32>, tensor<4x3x5x5xf32>
}
func.func @eval_step(
    %w: tensor<4x3x5x5xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
    %x: tensor<2x75xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<2x4xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.reshape %w : (tensor<4x3x5x5xf32>) -> tensor<4x75xf32>
  %1 = prim.dot_general %x, %0 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<2x75xf32>, tensor<4x75xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
