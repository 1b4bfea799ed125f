// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --make-trainable="loss=mse optimizer=sgd,momentum=0.9 freeze=^c$" | FileCheck %s
// RUN: accc-opt %s --make-trainable="loss=mse" | FileCheck %s --check-prefix=LOSS
// RUN: accc-opt %s --make-trainable | FileCheck %s --check-prefix=NONE

// y = x * w + c, with a running mean of x.
func.func @forward(
    %w: tensor<3xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
    %c: tensor<3xf32> {accc.name = "c", accc.role = #prim.role<parameter>},
    %m: tensor<3xf32> {accc.name = "m", accc.role = #prim.role<buffer>},
    %x: tensor<3xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<3xf32> {accc.name = "y", accc.role = #prim.role<output>},
        tensor<3xf32> {accc.name = "m", accc.role = #prim.role<update>, accc.updates = "m"}) {
  %0 = prim.mul %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.add %0, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = prim.max %m, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %1, %2 : tensor<3xf32>, tensor<3xf32>
}

// CHECK-NOT: @forward
// CHECK-LABEL: func.func @train_step(
// CHECK-SAME: {accc.name = "w", accc.role = #prim.role<parameter>}
// CHECK-SAME: {accc.frozen, accc.name = "c", accc.role = #prim.role<parameter>}
// CHECK-SAME: {accc.name = "m", accc.role = #prim.role<buffer>}
// CHECK-SAME: {accc.name = "x", accc.role = #prim.role<input>}
// CHECK-SAME: {accc.name = "target", accc.role = #prim.role<target>}
// CHECK-SAME: tensor<f32> {accc.name = "learning_rate", accc.role = #prim.role<learning_rate>}
// CHECK-SAME: {accc.name = "optimizer.momentum_buffer.w", accc.role = #prim.role<optimizer_state>})
// CHECK-SAME: -> (tensor<3xf32> {accc.name = "y", accc.role = #prim.role<output>}
// CHECK-SAME: {accc.name = "m", accc.role = #prim.role<update>, accc.updates = "m"}
// CHECK-SAME: tensor<f32> {accc.name = "loss", accc.role = #prim.role<loss>}
// CHECK-SAME: {accc.name = "w", accc.role = #prim.role<update>, accc.updates = "w"}
// CHECK-SAME: {accc.name = "optimizer.momentum_buffer.w", accc.role = #prim.role<update>, accc.updates = "optimizer.momentum_buffer.w"})
// CHECK: nn.mse_loss

// CHECK-LABEL: func.func @grad_step(
// CHECK-SAME: {accc.name = "target", accc.role = #prim.role<target>})
// CHECK-SAME: {accc.name = "m", accc.role = #prim.role<update>, accc.updates = "m"}
// CHECK-SAME: tensor<3xf32> {accc.name = "grad.w", accc.role = #prim.role<gradient>})
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>

// CHECK-LABEL: func.func @apply_step(
// CHECK-SAME: %[[W:[^:]*]]: tensor<3xf32> {accc.name = "w", accc.role = #prim.role<parameter>}
// CHECK-SAME: %[[G:[^:]*]]: tensor<3xf32> {accc.name = "grad.w", accc.role = #prim.role<gradient>}
// CHECK-SAME: %[[LR:[^:]*]]: tensor<f32> {accc.name = "learning_rate", accc.role = #prim.role<learning_rate>}
// CHECK-SAME: %[[B:[^:]*]]: tensor<3xf32> {accc.name = "optimizer.momentum_buffer.w", accc.role = #prim.role<optimizer_state>})
// CHECK-DAG: %[[RATE:.*]] = prim.optimization_barrier %[[LR]]
// CHECK-DAG: %[[GRADIENT:.*]] = prim.optimization_barrier %[[G]]
// CHECK-DAG: %[[WEIGHT:.*]] = prim.optimization_barrier %[[W]]
// CHECK-DAG: %[[BUFFER:.*]] = prim.optimization_barrier %[[B]]
// CHECK: %[[OLD:.*]] = prim.mul %[[BUFFER]]
// CHECK: %[[NEW:.*]] = prim.add %[[OLD]], %[[GRADIENT]]
// CHECK: %[[WIDE:.*]] = prim.broadcast %[[RATE]]
// CHECK: %[[STEP:.*]] = prim.mul %[[NEW]], %[[WIDE]]
// CHECK: %[[WNEW:.*]] = prim.sub %[[WEIGHT]], %[[STEP]]
// CHECK: return %[[WNEW]], %[[NEW]]

// Evaluation updates nothing, and computes nothing for it.
// CHECK-LABEL: func.func @eval_step(
// CHECK-NOT: update
// CHECK-NOT: prim.max

// LOSS-LABEL: func.func @grad_step(
// LOSS-NOT: @apply_step
// LOSS-NOT: @train_step
// LOSS: func.func @eval_step(

// NONE-NOT: func.func
// NONE: func.func @eval_step(
// NONE-NOT: target
// NONE-SAME: {accc.name = "m", accc.role = #prim.role<update>, accc.updates = "m"}
// NONE: prim.max
// NONE-NOT: func.func
