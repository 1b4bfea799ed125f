// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --make-trainable="optimizer=sgd freeze=^c$" | FileCheck %s
// RUN: accc-opt %s --make-trainable | FileCheck %s --check-prefix=NONE
// RUN: not accc-opt %s --make-trainable="loss=mse" 2>&1 | FileCheck %s --check-prefix=LOSS

// A joint graph holds its loss and gradients. No other derivative is made, and evaluation computes none.
func.func @forward(
    %w: tensor<3xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
    %c: tensor<3xf32> {accc.name = "c", accc.role = #prim.role<parameter>},
    %u: tensor<3xf32> {accc.name = "u", accc.role = #prim.role<parameter>},
    %x: tensor<3xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<3xf32> {accc.name = "y", accc.role = #prim.role<output>},
        tensor<f32> {accc.name = "loss", accc.role = #prim.role<loss>},
        tensor<3xf32> {accc.name = "grad.w", accc.role = #prim.role<gradient>},
        tensor<3xf32> {accc.name = "grad.c", accc.role = #prim.role<gradient>}) {
  %0 = prim.mul %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.add %0, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = prim.add %1, %u : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = prim.reduce sum %2 {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  %4 = prim.sin %x : (tensor<3xf32>) -> tensor<3xf32>
  %5 = prim.cos %x : (tensor<3xf32>) -> tensor<3xf32>
  return %2, %3, %4, %5 : tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>
}

// The gradient is the model's, though it is not the derivative of the loss; u, which has none, is not trained.
// CHECK-LABEL: func.func @train_step(
// CHECK-SAME: {accc.name = "w", accc.role = #prim.role<parameter>}
// CHECK-SAME: {accc.frozen, accc.name = "c", accc.role = #prim.role<parameter>}
// CHECK-SAME: {accc.frozen, accc.name = "u", accc.role = #prim.role<parameter>}
// CHECK-SAME: {accc.name = "loss", accc.role = #prim.role<loss>}
// CHECK-SAME: {accc.name = "w", accc.role = #prim.role<update>, accc.updates = "w"})
// CHECK: %[[G:.*]] = prim.sin
// CHECK-NOT: prim.cos
// CHECK: prim.optimization_barrier %[[G]]

// CHECK-LABEL: func.func @grad_step(
// CHECK-SAME: {accc.name = "loss", accc.role = #prim.role<loss>}, tensor<3xf32> {accc.name = "grad.w", accc.role = #prim.role<gradient>})
// CHECK-LABEL: func.func @apply_step(
// CHECK-LABEL: func.func @eval_step(
// CHECK-SAME: -> (tensor<3xf32> {accc.name = "y", accc.role = #prim.role<output>}, tensor<f32> {accc.name = "loss", accc.role = #prim.role<loss>})
// CHECK-NOT: prim.sin

// NONE-NOT: @train_step
// NONE: func.func @grad_step(
// NONE-SAME: accc.name = "grad.w"
// NONE-SAME: accc.name = "grad.c"
// NONE: func.func @eval_step(

// LOSS: --loss mse: the model holds its own loss and the gradients of its parameters
