// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --make-trainable="loss=output:y optimizer=sgd data-parallel" | FileCheck %s
// RUN: accc-opt %s --make-trainable="loss=output:y optimizer=sgd data-parallel loss-scale=dynamic" | FileCheck %s --check-prefix=SCALED
// RUN: not accc-opt %s --make-trainable="loss=output:y data-parallel" 2>&1 | FileCheck %s --check-prefix=ALONE

// y = sum x w, with a running maximum m of x.
func.func @forward(
    %w: tensor<3xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
    %m: tensor<3xf32> {accc.name = "m", accc.role = #prim.role<buffer>},
    %x: tensor<3xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<f32> {accc.name = "y", accc.role = #prim.role<output>},
        tensor<3xf32> {accc.name = "m", accc.role = #prim.role<update>, accc.updates = "m"}) {
  %0 = prim.mul %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %2 = prim.max %m, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %1, %2 : tensor<f32>, tensor<3xf32>
}

// The optimizer gets means of gradients, behind the barrier; the loss is one, the output is the process's own; buffers are those of the
// first process.
// CHECK-LABEL: func.func @train_step(
// CHECK: %[[Y:.*]] = prim.reduce sum
// CHECK: %[[M:.*]] = prim.max
// CHECK: %[[G:.*]] = prim.optimization_barrier
// CHECK: %[[LOSS:.*]] = prim.all_reduce %[[Y]]
// CHECK: %[[FIRST:.*]] = prim.broadcast_from %[[M]]
// CHECK: %[[MEAN:.*]] = prim.all_reduce %[[G]]
// CHECK: %[[STEP:.*]] = prim.mul %[[MEAN]]
// CHECK: %[[W:.*]] = prim.sub %{{.*}}, %[[STEP]]
// CHECK: return %[[Y]], %[[FIRST]], %[[LOSS]], %[[W]]

// The gradients are those of the process's own rows.
// CHECK-LABEL: func.func @grad_step(
// CHECK: %[[G:.*]] = prim.optimization_barrier
// CHECK: %[[LOSS:.*]] = prim.all_reduce {{.*}} : (tensor<f32>)
// CHECK: %[[FIRST:.*]] = prim.broadcast_from
// CHECK: return %{{.*}}, %[[FIRST]], %[[LOSS]], %[[G]]

// CHECK-LABEL: func.func @apply_step(
// CHECK: %[[G:.*]] = prim.optimization_barrier
// CHECK: prim.all_reduce %[[G]]

// CHECK-LABEL: func.func @eval_step(
// CHECK-NOT: all_reduce
// CHECK-NOT: broadcast_from

// All processes skip a step by the same gradients, and in grad_step, where each has its own, by those of the first.
// SCALED-LABEL: func.func @train_step(
// SCALED: %[[G:.*]] = prim.optimization_barrier %{{.*}} : (tensor<3xf32>)
// SCALED: %[[MEAN:.*]] = prim.all_reduce %[[G]]
// SCALED: prim.is_finite %[[MEAN]]
// SCALED-LABEL: func.func @grad_step(
// SCALED: prim.is_finite
// SCALED: %[[KEPT:.*]] = prim.select
// SCALED: %[[FIRST:.*]] = prim.broadcast_from %[[KEPT]]
// SCALED: return %{{.*}}, %[[FIRST]]
// SCALED-LABEL: func.func @apply_step(
// SCALED: %[[MEAN:.*]] = prim.all_reduce
// SCALED: prim.is_finite %[[MEAN]]

// ALONE: --data-parallel: the processes average the gradients for an --optimizer, and there is none
