// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --make-trainable="loss=output:y optimizer=sgd accumulate-gradients" | FileCheck %s
// RUN: accc-opt %s --make-trainable="loss=output:y optimizer=sgd accumulate-gradients loss-scale=fixed=4" | FileCheck %s --check-prefix=SCALED
// RUN: accc-opt %s --make-trainable="loss=output:y optimizer=sgd accumulate-gradients data-parallel" | FileCheck %s --check-prefix=TOGETHER
// RUN: not accc-opt %s --make-trainable="loss=output:y accumulate-gradients" 2>&1 | FileCheck %s --check-prefix=ALONE

// y = sum x w, with a running maximum m of x.
func.func @forward(
    %w: tensor<3xf16> {accc.name = "w", accc.role = #prim.role<parameter>},
    %m: tensor<3xf16> {accc.name = "m", accc.role = #prim.role<buffer>},
    %x: tensor<3xf16> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<f16> {accc.name = "y", accc.role = #prim.role<output>},
        tensor<3xf16> {accc.name = "m", accc.role = #prim.role<update>, accc.updates = "m"}) {
  %0 = prim.mul %x, %w : (tensor<3xf16>, tensor<3xf16>) -> tensor<3xf16>
  %1 = prim.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<3xf16>) -> tensor<f16>
  %2 = prim.max %m, %x : (tensor<3xf16>, tensor<3xf16>) -> tensor<3xf16>
  return %1, %2 : tensor<f16>, tensor<3xf16>
}

// Sums of 16-bit gradients are f32; no parameter changes.
// CHECK-LABEL: func.func @accumulate_step(
// CHECK-SAME: %[[W:[^ ]*]]: tensor<3xf16> {accc.name = "w"
// CHECK-SAME: %[[SUM:[^ ]*]]: tensor<3xf32> {accc.name = "optimizer.grad_sum.w", accc.role = #prim.role<optimizer_state>}
// CHECK-SAME: %[[COUNT:[^ ]*]]: tensor<i64> {accc.name = "optimizer.accumulated_batches"
// CHECK-NOT: accc.updates = "w"
// CHECK: %[[G:.*]] = prim.optimization_barrier %{{.*}} : (tensor<3xf16>)
// CHECK: %[[WIDE:.*]] = prim.convert %[[G]]
// CHECK: %[[BEFORE:.*]] = prim.optimization_barrier %[[SUM]]
// CHECK: %[[AFTER:.*]] = prim.add %[[BEFORE]], %[[WIDE]]
// CHECK: %[[DONE:.*]] = prim.optimization_barrier %[[COUNT]]
// CHECK: %[[NEXT:.*]] = prim.add %[[DONE]]
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %[[AFTER]], %[[NEXT]]

// CHECK-LABEL: func.func @update_step(
// CHECK: %[[COUNT:.*]] = prim.max
// CHECK: %[[SUM:.*]] = prim.optimization_barrier %{{.*}} : (tensor<3xf32>)
// CHECK: prim.div %[[SUM]]
// CHECK: %[[ZEROS:.*]] = prim.constant dense<0.000000e+00> : tensor<3xf32>
// CHECK: %[[NONE:.*]] = prim.constant dense<0> : tensor<i64>
// CHECK: return %{{.*}}, %[[ZEROS]], %[[NONE]]

// A step that is skipped is so with its running maximum; its gradients are added, and skip the update. The sums begin anew in any case.
// SCALED-LABEL: func.func @accumulate_step(
// SCALED: prim.is_finite
// SCALED: %[[M:.*]] = prim.select {{.*}} : {{.*}}tensor<3xf16>
// SCALED: %[[AFTER:.*]] = prim.add {{.*}} : (tensor<3xf32>
// SCALED: return %{{.*}}, %[[M]], %{{.*}}, %[[AFTER]]
// SCALED-LABEL: func.func @update_step(
// SCALED: prim.is_finite
// SCALED: %[[W:.*]] = prim.select {{.*}} : {{.*}}tensor<3xf16>
// SCALED: %[[ZEROS:.*]] = prim.constant dense<0.000000e+00> : tensor<3xf32>
// SCALED: return %[[W]], %[[ZEROS]]

// Each process adds up its own; update_step averages the means.
// TOGETHER-LABEL: func.func @accumulate_step(
// TOGETHER-NOT: prim.all_reduce {{.*}} : (tensor<3xf
// TOGETHER-LABEL: func.func @update_step(
// TOGETHER: %[[MEAN:.*]] = prim.div
// TOGETHER: prim.all_reduce %[[MEAN]]

// ALONE: --accumulate-gradients: they are added up for an --optimizer, and there is none
