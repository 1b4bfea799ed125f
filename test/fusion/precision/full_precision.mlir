// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --pass-pipeline="builtin.module(make-trainable{loss=mse optimizer=sgd},func.func(decompose,simplify,lay-out-contractions{target=cuda},pad-contractions{target=cuda tf32}))" | FileCheck %s
// A resize of many weights, which is a product with them, and what a model has in full precision: the gradients are so, too, and
// passes that make other products of these.

// CHECK-NOT: prim.dot_general %{{[^ ]+}}, %{{[^ ]+}} {lhs_batch
// CHECK-LABEL: @train_step
// CHECK-COUNT-4: prim.dot_general %{{.*}} {full_precision
// CHECK-LABEL: @grad_step
// CHECK-COUNT-4: prim.dot_general %{{.*}} {full_precision
// CHECK-LABEL: @eval_step
// CHECK-COUNT-2: prim.dot_general %{{.*}} {full_precision
// CHECK-NOT: prim.dot_general %{{[^ ]+}}, %{{[^ ]+}} {lhs_batch
func.func @forward(
    %w: tensor<16x24xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
    %x: tensor<16x16xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<8x16xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.transpose %w {permutation = array<i64: 1, 0>} : (tensor<16x24xf32>) -> tensor<24x16xf32>
  %1 = prim.dot_general %0, %x {full_precision, lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<24x16xf32>, tensor<16x16xf32>) -> tensor<24x16xf32>
  %2 = nn.resize %1 {antialias, coordinates = #nn<resize_coordinates half_pixel>, mode = #nn<resize_mode cubic>, nearest = #nn<resize_nearest floor>, scales = array<f64: 0.33333333333333331, 1.0e+00>} : (tensor<24x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}
