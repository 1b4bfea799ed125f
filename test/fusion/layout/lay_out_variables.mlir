// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --lay-out-variables="target=cuda arch=compute_80 tf32" | FileCheck %s
// RUN: accc-opt %s --pass-pipeline="builtin.module(lay-out-variables{target=cuda arch=compute_80 tf32},func.func(lay-out-convolutions{target=cuda arch=compute_80 tf32}))" | FileCheck %s --check-prefix=LAID
// RUN: accc-opt %s --lay-out-variables="target=cuda arch=compute_80" | FileCheck %s --check-prefix=FIRST
// RUN: accc-opt %s --lay-out-variables="target=cpu tf32" | FileCheck %s --check-prefix=FIRST

// A filter with its momentum, in all entry points. What is neither keeps its order.
// FIRST-NOT: accc.order

// CHECK-LABEL: @train_step
// CHECK-SAME: %arg0: tensor<4x5x5x3xf32> {accc.name = "w", accc.order = array<i64: 0, 2, 3, 1>
// CHECK-SAME: %arg1: tensor<4x5x5x3xf32> {accc.name = "momentum.w", accc.order = array<i64: 0, 2, 3, 1>
// CHECK-SAME: %arg2: tensor<4xf32> {accc.name = "b", accc.role
// CHECK-SAME: %arg3: tensor<2x3x8x8xf32> {accc.name = "x", accc.role
// CHECK-SAME: -> (tensor<4x5x5x3xf32>
// CHECK-SAME: tensor<4x5x5x3xf32>
// CHECK: prim.transpose %arg0 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<4x5x5x3xf32>) -> tensor<4x3x5x5xf32>
// CHECK: prim.transpose {{.*}} {permutation = array<i64: 0, 2, 3, 1>} : (tensor<4x3x5x5xf32>) -> tensor<4x5x5x3xf32>
// CHECK: prim.transpose {{.*}} {permutation = array<i64: 0, 2, 3, 1>} : (tensor<4x3x5x5xf32>) -> tensor<4x5x5x3xf32>
// CHECK-NEXT: return

// LAID-LABEL: @train_step
// LAID-NEXT: prim.transpose %arg3
// LAID-NOT: prim.transpose
// LAID: prim.convolution %{{.*}}, %arg0 {channels_last = true, {{.*}}filter_channels_last = true
// LAID-NOT: prim.transpose
// LAID: prim.convolution_backward_weights {{.*}}channels_last = true, {{.*}}filter_channels_last = true{{.*}} -> tensor<4x5x5x3xf32>
// LAID-NOT: prim.transpose
// LAID: return
func.func @train_step(
    %w: tensor<4x3x5x5xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
    %m: tensor<4x3x5x5xf32> {accc.name = "momentum.w", accc.role = #prim.role<optimizer_state>},
    %b: tensor<4xf32> {accc.name = "b", accc.role = #prim.role<parameter>},
    %x: tensor<2x3x8x8xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<4x3x5x5xf32> {accc.role = #prim.role<update>, accc.updates = "w"},
        tensor<4x3x5x5xf32> {accc.role = #prim.role<update>, accc.updates = "momentum.w"},
        tensor<4xf32> {accc.role = #prim.role<update>, accc.updates = "b"}) {
  %0 = prim.convolution %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 2, 2>, pad_low = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<2x3x8x8xf32>, tensor<4x3x5x5xf32>) -> tensor<2x4x8x8xf32>
  %1 = prim.exp %0 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = prim.convolution_backward_weights %x, %1 {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 2, 2>, pad_low = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<2x3x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<4x3x5x5xf32>
  %3 = prim.add %m, %2 : (tensor<4x3x5x5xf32>, tensor<4x3x5x5xf32>) -> tensor<4x3x5x5xf32>
  %4 = prim.sub %w, %3 : (tensor<4x3x5x5xf32>, tensor<4x3x5x5xf32>) -> tensor<4x3x5x5xf32>
  %5 = prim.reduce sum %1 {dimensions = array<i64: 0, 2, 3>} : (tensor<2x4x8x8xf32>) -> tensor<4xf32>
  %6 = prim.sub %b, %5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4, %3, %6 : tensor<4x3x5x5xf32>, tensor<4x3x5x5xf32>, tensor<4xf32>
}

// A step without convolutions follows: the gradient that a caller gives is transposed.
// CHECK-LABEL: @apply_step
// CHECK-SAME: %arg0: tensor<4x5x5x3xf32> {accc.name = "w", accc.order
// CHECK-SAME: %arg1: tensor<4x3x5x5xf32> {accc.name = "grad.w", accc.role
// LAID-LABEL: @apply_step
// LAID-NEXT: %[[G:.*]] = prim.transpose %arg1 {permutation = array<i64: 0, 2, 3, 1>}
// LAID-NEXT: %[[W:.*]] = prim.sub %arg0, %[[G]] : (tensor<4x5x5x3xf32>
// LAID-NEXT: return %[[W]]
func.func @apply_step(
    %w: tensor<4x3x5x5xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
    %g: tensor<4x3x5x5xf32> {accc.name = "grad.w", accc.role = #prim.role<gradient>})
    -> (tensor<4x3x5x5xf32> {accc.role = #prim.role<update>, accc.updates = "w"}) {
  %0 = prim.sub %w, %g : (tensor<4x3x5x5xf32>, tensor<4x3x5x5xf32>) -> tensor<4x3x5x5xf32>
  return %0 : tensor<4x3x5x5xf32>
}
