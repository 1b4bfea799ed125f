// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --make-trainable="loss=mse optimizer=sgd" | FileCheck %s

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
