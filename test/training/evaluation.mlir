// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --make-trainable="loss=output:total optimizer=adam" | FileCheck %s

// Batch norm and dropout are themselves in training, and their inference forms in evaluation. The key of
// what is random is made of seed and step; where nothing is random, neither is asked for.
func.func @forward(
    %x: tensor<4x2xf32> {accc.name = "x", accc.role = #prim.role<input>},
    %s: tensor<2xf32> {accc.name = "s", accc.role = #prim.role<parameter>},
    %b: tensor<2xf32> {accc.name = "b", accc.role = #prim.role<parameter>},
    %rm: tensor<2xf32> {accc.name = "rm", accc.role = #prim.role<buffer>},
    %rv: tensor<2xf32> {accc.name = "rv", accc.role = #prim.role<buffer>},
    %key: tensor<2xi64> {accc.name = "key", accc.role = #prim.role<random_key>})
    -> (tensor<f32> {accc.name = "total", accc.role = #prim.role<output>},
        tensor<2xf32> {accc.name = "rm", accc.role = #prim.role<update>, accc.updates = "rm"},
        tensor<2xf32> {accc.name = "rv", accc.role = #prim.role<update>, accc.updates = "rv"}) {
  %y, %m, %v = nn.batch_norm_training %x, %s, %b, %rm, %rv {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64, unbiased = true} : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>)
  %d = nn.dropout %y, %key {ratio = 0.5 : f64, stream = 0 : i64} : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  %t = prim.reduce sum %d {dimensions = array<i64: 0, 1>} : (tensor<4x2xf32>) -> tensor<f32>
  return %t, %m, %v : tensor<f32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @train_step(
// CHECK-NOT: random_key
// CHECK-SAME: %[[SEED:[^:]*]]: tensor<i64> {accc.name = "seed", accc.role = #prim.role<seed>}
// CHECK-SAME: %[[STEP:[^:]*]]: tensor<i64> {accc.name = "step", accc.role = #prim.role<step>}
// CHECK-SAME: tensor<i64> {accc.name = "optimizer.step", accc.role = #prim.role<optimizer_state>}
// CHECK-DAG: %[[A:.*]] = prim.reshape %[[SEED]] : (tensor<i64>) -> tensor<1xi64>
// CHECK-DAG: %[[B:.*]] = prim.reshape %[[STEP]] : (tensor<i64>) -> tensor<1xi64>
// CHECK: %[[KEY:.*]] = prim.concatenate %[[A]], %[[B]] {dimension = 0 : i64}
// CHECK: nn.batch_norm_training
// CHECK: nn.dropout %{{.*}}, %[[KEY]]

// The loss is the model's own output, under both names.
// CHECK-LABEL: func.func @eval_step(
// CHECK-NOT: accc.role = #prim.role<seed>
// CHECK-SAME: -> (tensor<f32> {accc.name = "total", accc.role = #prim.role<output>}, tensor<f32> {accc.name = "loss", accc.role = #prim.role<loss>})
// CHECK-NEXT: %[[Y:.*]] = nn.batch_norm_inference %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64}
// CHECK-NEXT: %[[T:.*]] = prim.reduce sum %[[Y]]
// CHECK-NEXT: return %[[T]], %[[T]]
