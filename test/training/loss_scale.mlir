// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --make-trainable="loss=output:y optimizer=sgd loss-scale=dynamic,growth_interval=5" | FileCheck %s
// RUN: accc-opt %s --make-trainable="loss=output:y optimizer=sgd loss-scale=fixed=8" | FileCheck %s --check-prefix=FIXED

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

// The scaled gradient is looked at as it lies, and divided behind the barrier. What is not finite changes nothing but the scale.
// CHECK-LABEL: func.func @train_step(
// CHECK-SAME: %[[W:[^:]*]]: tensor<3xf32> {accc.name = "w"
// CHECK-SAME: %[[M:[^:]*]]: tensor<3xf32> {accc.name = "m"
// CHECK-SAME: %[[X:[^:]*]]: tensor<3xf32> {accc.name = "x"
// CHECK-SAME: %[[SCALE:[^:]*]]: tensor<f32> {accc.name = "optimizer.loss_scale", accc.role = #prim.role<optimizer_state>}
// CHECK-SAME: %[[TRACKER:[^:]*]]: tensor<i64> {accc.name = "optimizer.growth_tracker", accc.role = #prim.role<optimizer_state>}
// CHECK-SAME: {accc.name = "optimizer.loss_scale", accc.role = #prim.role<update>, accc.updates = "optimizer.loss_scale"}
// CHECK-SAME: {accc.name = "optimizer.growth_tracker", accc.role = #prim.role<update>, accc.updates = "optimizer.growth_tracker"}
// CHECK: %[[LOSS:.*]] = prim.reduce sum
// CHECK: %[[MNEW:.*]] = prim.max %[[M]], %[[X]]
// CHECK: %[[ZERO:.*]] = prim.compare eq %[[SCALE]]
// CHECK: %[[FIRST:.*]] = prim.constant dense<6.553600e+04>
// CHECK: %[[STARTED:.*]] = prim.select %[[ZERO]], %[[FIRST]], %[[SCALE]]
// CHECK: %[[WIDE:.*]] = prim.broadcast %[[STARTED]]
// CHECK: %[[SCALED:.*]] = prim.mul %[[WIDE]], %[[X]]
// CHECK: %[[GIVEN:.*]] = prim.optimization_barrier %[[SCALED]]
// CHECK: %[[INVERSE:.*]] = prim.div
// CHECK: %[[ROW:.*]] = prim.broadcast %[[INVERSE]]
// CHECK: %[[GRADIENT:.*]] = prim.mul %[[GIVEN]], %[[ROW]]
// CHECK: %[[OLD:.*]] = prim.optimization_barrier %[[W]]
// CHECK: %[[WNEW:.*]] = prim.sub %[[OLD]]
// CHECK: %[[ARE:.*]] = prim.is_finite %[[GIVEN]]
// CHECK: %[[ALL:.*]] = prim.reduce all %[[ARE]]
// CHECK: %[[FINITE:.*]] = prim.optimization_barrier %[[ALL]]
// CHECK: %[[MOLD:.*]] = prim.optimization_barrier %[[M]]
// CHECK: %[[MKEPT:.*]] = prim.select %{{.*}}, %[[MNEW]], %[[MOLD]]
// CHECK: %[[WKEPT:.*]] = prim.select %{{.*}}, %[[WNEW]], %[[OLD]]
// CHECK: prim.optimization_barrier %[[TRACKER]]
// CHECK: prim.constant dense<5> : tensor<i64>
// CHECK: %[[MOVED:.*]] = prim.select %[[FINITE]]
// CHECK: return %[[LOSS]], %[[MKEPT]], %[[LOSS]], %[[WKEPT]], %[[MOVED]],

// CHECK-LABEL: func.func @grad_step(
// CHECK-SAME: %[[SCALE:[^:]*]]: tensor<f32> {accc.name = "optimizer.loss_scale"
// CHECK-NOT: growth_tracker
// CHECK: %[[GRADIENT:.*]] = prim.mul
// CHECK: %[[SCALED:.*]] = prim.optimization_barrier
// CHECK: %[[GRADIENT:.*]] = prim.mul %[[SCALED]]
// CHECK: %[[KEPT:.*]] = prim.select %{{.*}} -> tensor<3xf32>
// CHECK: return %{{.*}}, %[[KEPT]], %{{.*}}, %[[GRADIENT]]

// Takes gradients of the loss, and moves the scale.
// CHECK-LABEL: func.func @apply_step(
// CHECK-SAME: %[[G:[^:]*]]: tensor<3xf32> {accc.name = "grad.w"
// CHECK-SAME: accc.updates = "optimizer.loss_scale"
// CHECK: %[[GIVEN:.*]] = prim.optimization_barrier %[[G]]
// CHECK: prim.is_finite %[[GIVEN]]

// CHECK-LABEL: func.func @eval_step(
// CHECK-NOT: loss_scale

// FIXED-NOT: optimizer.
// FIXED-LABEL: func.func @train_step(
// FIXED: prim.constant dense<8.000000e+00>
// FIXED: %[[SCALED:.*]] = prim.optimization_barrier
// FIXED: prim.constant dense<1.250000e-01>
// FIXED: prim.is_finite %[[SCALED]]
// FIXED: prim.select
// FIXED: return
