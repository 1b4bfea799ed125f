// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --make-trainable="loss=output:y optimizer=sgd data-parallel sync-batch-norm" | FileCheck %s
// RUN: not accc-opt %s --make-trainable="loss=output:y optimizer=sgd sync-batch-norm" 2>&1 | FileCheck %s --check-prefix=ALONE

func.func @forward(
    %w: tensor<3xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
    %b: tensor<3xf32> {accc.name = "b", accc.role = #prim.role<parameter>},
    %m: tensor<3xf32> {accc.name = "m", accc.role = #prim.role<buffer>},
    %v: tensor<3xf32> {accc.name = "v", accc.role = #prim.role<buffer>},
    %x: tensor<4x3xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<f32> {accc.name = "y", accc.role = #prim.role<output>},
        tensor<3xf32> {accc.name = "m", accc.role = #prim.role<update>, accc.updates = "m"},
        tensor<3xf32> {accc.name = "v", accc.role = #prim.role<update>, accc.updates = "v"}) {
  %u = nn.batch_norm_untracked %x, %w, %b {epsilon = 1.0e-05 : f64} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %r:3 = nn.batch_norm_training %u, %w, %b, %m, %v {epsilon = 1.0e-05 : f64, momentum = 1.0e-01 : f64, unbiased = true} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %y = prim.reduce sum %r#0 {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<f32>
  return %y, %r#1, %r#2 : tensor<f32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: func.func @train_step(
// CHECK: nn.batch_norm_untracked {{.*}} synchronized}
// CHECK: nn.batch_norm_training {{.*}} synchronized, unbiased = true}
// The means in a batch norm's gradient are of all processes, as are the weights' gradients, which are averaged later.
// CHECK: prim.all_reduce {{.*}} {sum} : (tensor<3xf32>, tensor<3xf32>)

// CHECK-LABEL: func.func @grad_step(
// CHECK: nn.batch_norm_training {{.*}} synchronized, unbiased = true}

// Evaluation exchanges nothing.
// CHECK-LABEL: func.func @eval_step(
// CHECK-NOT: synchronized
// CHECK: nn.batch_norm_untracked {{.*}} {epsilon = 1.000000e-05 : f64}
// CHECK: nn.batch_norm_inference

// ALONE: --sync-batch-norm needs --data-parallel: there are no other processes
