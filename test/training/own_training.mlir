// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --make-trainable | FileCheck %s
// RUN: accc-opt %s --make-trainable="freeze=w" | FileCheck %s --check-prefix=FROZEN
// RUN: not accc-opt %s --make-trainable="loss=mse" 2>&1 | FileCheck %s --check-prefix=LOSS
// RUN: not accc-opt %s --make-trainable="optimizer=sgd" 2>&1 | FileCheck %s --check-prefix=OPTIMIZER

// A model that holds its own training step: nothing is derived. Evaluation computes none of what is marked, and takes
// neither the state nor the inputs that only the step needs.
func.func @forward(
    %w: tensor<3xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
    %v: tensor<3xf32> {accc.name = "v", accc.role = #prim.role<buffer>},
    %x: tensor<3xf32> {accc.name = "x", accc.role = #prim.role<input>},
    %r: tensor<3xf32> {accc.name = "rate", accc.role = #prim.role<input>})
    -> (tensor<3xf32> {accc.name = "y", accc.role = #prim.role<output>},
        tensor<f32> {accc.name = "loss", accc.role = #prim.role<loss>},
        tensor<3xf32> {accc.name = "g", accc.role = #prim.role<output>, accc.training},
        tensor<3xf32> {accc.name = "w", accc.role = #prim.role<update>, accc.training, accc.updates = "w"},
        tensor<3xf32> {accc.name = "v", accc.role = #prim.role<update>, accc.training, accc.updates = "v"}) {
  %0 = prim.mul %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %apart = prim.optimization_barrier %v : (tensor<3xf32>) -> tensor<3xf32>
  %2 = prim.add %apart, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = prim.mul %2, %r : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %4 = prim.sub %w, %3 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %x, %4, %2 : tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @train_step(
// CHECK-SAME: {accc.name = "g", accc.role = #prim.role<output>}
// CHECK-SAME: {accc.name = "w", accc.role = #prim.role<update>, accc.updates = "w"}, tensor<3xf32> {accc.name = "v", accc.role = #prim.role<update>, accc.updates = "v"})
// CHECK: prim.sub
// CHECK-LABEL: func.func @eval_step(
// CHECK-SAME: %{{[^:]*}}: tensor<3xf32> {accc.name = "w", accc.role = #prim.role<parameter>}, %{{[^:]*}}: tensor<3xf32> {accc.name = "x", accc.role = #prim.role<input>})
// CHECK-SAME: -> (tensor<3xf32> {accc.name = "y", accc.role = #prim.role<output>}, tensor<f32> {accc.name = "loss", accc.role = #prim.role<loss>})
// CHECK-NOT: prim.optimization_barrier
// CHECK-NOT: prim.sub
// CHECK-NOT: @forward

// FROZEN-LABEL: func.func @train_step(
// FROZEN-NOT: accc.updates = "w"
// FROZEN: accc.updates = "v"
// FROZEN-NOT: prim.sub
// FROZEN-LABEL: func.func @eval_step(

// LOSS: --loss mse: the model holds its own training step (training_info), with its loss and optimizer
// OPTIMIZER: --optimizer sgd: the model holds its own training step (training_info)
