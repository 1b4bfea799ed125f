// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --split-input-file --make-trainable="loss=mse optimizer=sgd" | FileCheck %s

// y = round(exp(w x)), w in bf16. The gradient of exp reads what the model keeps of its result: the rounded. The loss
// and the update are of f32, the gradient of w has its type.
func.func @forward(
    %w: tensor<3xbf16> {accc.name = "w", accc.role = #prim.role<parameter>},
    %x: tensor<3xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<3xbf16> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.convert %w : (tensor<3xbf16>) -> tensor<3xf32>
  %1 = prim.mul %0, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %2 = prim.exp %1 : (tensor<3xf32>) -> tensor<3xf32>
  %3 = prim.convert %2 : (tensor<3xf32>) -> tensor<3xbf16>
  return %3 : tensor<3xbf16>
}

// CHECK-LABEL: func.func @train_step(
// CHECK-SAME: tensor<3xf32> {accc.name = "target"
// CHECK: %[[EXP:.*]] = prim.exp
// CHECK-NEXT: %[[Y:.*]] = prim.convert %[[EXP]] : (tensor<3xf32>) -> tensor<3xbf16>
// CHECK-NEXT: %[[KEPT:.*]] = prim.convert %[[Y]] : (tensor<3xbf16>) -> tensor<3xf32>
// CHECK-NOT: %[[EXP]]
// CHECK: nn.mse_loss {{.*}} : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
// CHECK: prim.mul {{.*}}%[[KEPT]]
// CHECK: %[[G:.*]] = prim.convert %{{.*}} : (tensor<3xf32>) -> tensor<3xbf16>
// CHECK: prim.optimization_barrier %[[G]] : (tensor<3xbf16>) -> tensor<3xbf16>
// CHECK: prim.sub {{.*}} -> tensor<3xf32>
// CHECK-NEXT: prim.convert {{.*}} : (tensor<3xf32>) -> tensor<3xbf16>

// -----

// Places are no floats: the gradient of the sort reads them as they are, beyond 256, too.
func.func @forward(
    %w: tensor<300xf32> {accc.name = "w", accc.role = #prim.role<parameter>})
    -> (tensor<300xf32> {accc.name = "y", accc.role = #prim.role<output>},
        tensor<300xbf16> {accc.name = "places", accc.role = #prim.role<output>}) {
  %v, %i = prim.sort %w {dimension = 0 : i64, descending = false} : (tensor<300xf32>) -> (tensor<300xf32>, tensor<300xi64>)
  %p = prim.convert %i : (tensor<300xi64>) -> tensor<300xbf16>
  return %v, %p : tensor<300xf32>, tensor<300xbf16>
}

// CHECK-LABEL: func.func @train_step(
// CHECK: %{{.*}}, %[[PLACES:.*]] = prim.sort
// CHECK: prim.convert %[[PLACES]] : (tensor<300xi64>) -> tensor<300xbf16>
// CHECK: %[[AT:.*]] = prim.mul %[[PLACES]],
// CHECK: prim.scatter %{{.*}}, %[[AT]],

// -----

// A result in f32 is not rounded, though the model reads it so.
func.func @forward(
    %w: tensor<3xf32> {accc.name = "w", accc.role = #prim.role<parameter>})
    -> (tensor<3xbf16> {accc.name = "y", accc.role = #prim.role<output>},
        tensor<3xf32> {accc.name = "exact", accc.role = #prim.role<output>}) {
  %0 = prim.exp %w : (tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.convert %0 : (tensor<3xf32>) -> tensor<3xbf16>
  return %1, %0 : tensor<3xbf16>, tensor<3xf32>
}

// CHECK-LABEL: func.func @train_step(
// CHECK: %[[EXP:.*]] = prim.exp
// CHECK: return %{{.*}}, %[[EXP]], %{{.*}} : tensor<3xbf16>, tensor<3xf32>, tensor<f32>
// CHECK-LABEL: func.func @grad_step(

// -----

// What the model reads in f32, too, the gradient reads so.
func.func @forward(
    %w: tensor<3xf32> {accc.name = "w", accc.role = #prim.role<parameter>})
    -> (tensor<3xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.exp %w : (tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.convert %0 : (tensor<3xf32>) -> tensor<3xbf16>
  %2 = prim.convert %1 : (tensor<3xbf16>) -> tensor<3xf32>
  %3 = prim.tanh %0 : (tensor<3xf32>) -> tensor<3xf32>
  %4 = prim.add %2, %3 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %4 : tensor<3xf32>
}

// CHECK-LABEL: func.func @train_step(
// CHECK: %[[EXP:.*]] = prim.exp
// CHECK: prim.mul %{{.*}}, %[[EXP]] : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-LABEL: func.func @grad_step(
