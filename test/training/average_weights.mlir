// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --make-trainable="loss=output:y optimizer=sgd average-weights=ema,decay=0.75" | FileCheck %s
// RUN: accc-opt %s --make-trainable="loss=output:y optimizer=sgd average-weights=ema,decay=0.75,warmup" | FileCheck %s --check-prefix=WARM
// RUN: accc-opt %s --make-trainable="loss=output:y optimizer=sgd average-weights=ema loss-scale=fixed=4" | FileCheck %s --check-prefix=SCALED
// RUN: accc-opt %s --make-trainable="loss=output:y optimizer=sgd average-weights=ema accumulate-gradients" | FileCheck %s --check-prefix=ADDED
// RUN: not accc-opt %s --make-trainable="loss=output:y average-weights=ema" 2>&1 | FileCheck %s --check-prefix=ALONE

// y = sum x w f, where w is clipped to 1 before it is read, and f is not trained.
func.func @forward(
    %w: tensor<3xf16> {accc.name = "w", accc.role = #prim.role<parameter>},
    %f: tensor<3xf16> {accc.name = "f", accc.role = #prim.role<parameter>, accc.frozen},
    %x: tensor<3xf16> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<f16> {accc.name = "y", accc.role = #prim.role<output>},
        tensor<3xf16> {accc.name = "w", accc.role = #prim.role<update>, accc.updates = "w"}) {
  %one = prim.constant dense<1.0> : tensor<3xf16>
  %0 = prim.min %w, %one : (tensor<3xf16>, tensor<3xf16>) -> tensor<3xf16>
  %1 = prim.mul %x, %0 : (tensor<3xf16>, tensor<3xf16>) -> tensor<3xf16>
  %2 = prim.mul %1, %f : (tensor<3xf16>, tensor<3xf16>) -> tensor<3xf16>
  %3 = prim.reduce sum %2 {dimensions = array<i64: 0>} : (tensor<3xf16>) -> tensor<f16>
  return %3, %0 : tensor<f16>, tensor<3xf16>
}

// The average, of f32, follows what the optimizer leaves in w; the first is that.
// CHECK-LABEL: func.func @train_step(
// CHECK-SAME: %[[COUNT:[^ ]*]]: tensor<i64> {accc.name = "optimizer.n_averaged", accc.role = #prim.role<optimizer_state>}
// CHECK-SAME: %[[EMA:[^ ]*]]: tensor<3xf32> {accc.name = "optimizer.ema.w", accc.role = #prim.role<optimizer_state>}
// CHECK-NOT: optimizer.ema.f
// CHECK: %[[N:.*]] = prim.optimization_barrier %[[COUNT]]
// CHECK: %[[NEW:.*]] = prim.convert %[[W:.*]] : (tensor<3xf16>) -> tensor<3xf32>
// CHECK: %[[BEFORE:.*]] = prim.optimization_barrier %[[EMA]]
// CHECK: %[[SO_FAR:.*]] = prim.convert %[[N]] : (tensor<i64>) -> tensor<f32>
// CHECK: %[[USUAL:.*]] = prim.constant dense<2.500000e-01> : tensor<f32>
// CHECK: %[[IS_FIRST:.*]] = prim.compare eq %[[SO_FAR]]
// CHECK: %[[ALL:.*]] = prim.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[WEIGHT:.*]] = prim.select %[[IS_FIRST]], %[[ALL]], %[[USUAL]]
// CHECK: %[[MOVE:.*]] = prim.sub %[[NEW]], %[[BEFORE]]
// CHECK: prim.compare lt %[[WEIGHT]]
// CHECK: %[[PART:.*]] = prim.mul %[[MOVE]]
// CHECK: %[[NEAR:.*]] = prim.add %[[BEFORE]], %[[PART]]
// CHECK: %[[REST:.*]] = prim.mul %[[MOVE]]
// CHECK: %[[FAR:.*]] = prim.sub %[[NEW]], %[[REST]]
// CHECK: %[[AFTER:.*]] = prim.select %{{.*}}, %[[NEAR]], %[[FAR]]
// CHECK: %[[NEXT:.*]] = prim.add %[[N]]
// CHECK: return %{{.*}}, %[[W]], %[[AFTER]], %[[NEXT]]

// WARM-LABEL: func.func @train_step(
// WARM: %[[LESS:.*]] = prim.div
// WARM: prim.max %[[LESS]]

// CHECK-LABEL: func.func @apply_step(
// CHECK-SAME: "optimizer.ema.w"

// CHECK-LABEL: func.func @eval_step(
// CHECK-NOT: ema

// The model reads the average in place of w, and writes nothing into w.
// CHECK-LABEL: func.func @average_eval_step(
// CHECK-SAME: %[[W:[^ ]*]]: tensor<3xf16> {accc.name = "w"
// CHECK-SAME: %[[COUNT:[^ ]*]]: tensor<i64> {accc.name = "optimizer.n_averaged"
// CHECK-SAME: %[[EMA:[^ ]*]]: tensor<3xf32> {accc.name = "optimizer.ema.w"
// CHECK-NOT: accc.updates
// CHECK: %[[IS_NONE:.*]] = prim.compare eq %[[COUNT]]
// CHECK: %[[NARROW:.*]] = prim.convert %[[EMA]] : (tensor<3xf32>) -> tensor<3xf16>
// CHECK: %[[USED:.*]] = prim.select %{{.*}}, %[[W]], %[[NARROW]]
// CHECK: prim.min %[[USED]]

// A step that is skipped leaves the average as it is.
// SCALED-LABEL: func.func @train_step(
// SCALED: prim.is_finite
// SCALED: %[[EMA:.*]] = prim.select {{.*}}tensor<3xf32>
// SCALED: %[[COUNT:.*]] = prim.select {{.*}}tensor<i64>
// SCALED: return %{{.*}}, %{{.*}}, %[[EMA]], %[[COUNT]]

// ADDED-LABEL: func.func @accumulate_step(
// ADDED-NOT: ema
// ADDED-LABEL: func.func @update_step(
// ADDED-SAME: "optimizer.ema.w"

// ALONE: --average-weights ema: they are averaged behind an --optimizer, and there is none
