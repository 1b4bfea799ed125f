// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --make-trainable="loss=output:total optimizer=sgd,momentum=0.9" | FileCheck %s

// A model that clips its parameter, and shifts a buffer, before it reads them.
func.func @forward(
    %w: tensor<3xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
    %m: tensor<3xf32> {accc.name = "m", accc.role = #prim.role<buffer>})
    -> (tensor<f32> {accc.name = "total", accc.role = #prim.role<output>},
        tensor<3xf32> {accc.name = "w", accc.role = #prim.role<update>, accc.updates = "w"},
        tensor<3xf32> {accc.name = "m", accc.role = #prim.role<update>, accc.updates = "m"}) {
  %bound = prim.constant dense<0.5> : tensor<3xf32>
  %low = prim.min %w, %bound : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %clipped = nn.straight_through %low, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %shifted = prim.add %m, %bound : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %y = prim.mul %clipped, %shifted : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %t = prim.reduce sum %y {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  return %t, %clipped, %shifted : tensor<f32>, tensor<3xf32>, tensor<3xf32>
}

// The optimizer starts from what the model wrote: one update of the parameter.
// CHECK-LABEL: func.func @train_step(
// CHECK-SAME: -> (
// CHECK-NOT: accc.updates = "w"
// CHECK-SAME: accc.updates = "m"
// CHECK-SAME: accc.updates = "w"
// CHECK-NOT: accc.updates = "w"
// CHECK: %[[CLIPPED:.*]] = nn.straight_through
// CHECK: %[[START:.*]] = prim.optimization_barrier %[[CLIPPED]]
// CHECK: %[[NEW:.*]] = prim.sub %[[START]]
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %[[NEW]], %{{.*}}

// The gradient is that of the written value, which stays for apply_step.
// CHECK-LABEL: func.func @grad_step(
// CHECK-SAME: accc.updates = "w"
// CHECK-SAME: accc.updates = "m"
// CHECK: %[[CLIPPED:.*]] = nn.straight_through
// CHECK: %[[SHIFTED:.*]] = prim.add
// CHECK: %[[GRADIENT:.*]] = prim.optimization_barrier
// CHECK: return %{{.*}}, %[[CLIPPED]], %[[SHIFTED]], %{{.*}}, %[[GRADIENT]]

// Evaluation writes into parameters as training does, and leaves buffers alone.
// CHECK-LABEL: func.func @eval_step(
// CHECK-NOT: accc.updates = "m"
// CHECK-SAME: accc.updates = "w"
// CHECK-NOT: accc.updates = "m"
// CHECK: return
