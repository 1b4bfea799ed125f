// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt --cse --simplify %s | FileCheck %s --check-prefix=KEEP
// RUN: accc-opt --form-fusions %s | FileCheck %s --check-prefix=GONE

// Two barriers of one value stay two, and a product by one in front of it and behind it is not shared;
// fusion joins nothing across them.
// KEEP-LABEL: @barriers
// KEEP: %[[P:.*]] = prim.mul
// KEEP: prim.optimization_barrier %[[P]]
// KEEP: prim.optimization_barrier %[[P]]
// KEEP: prim.mul
// KEEP: prim.mul
// GONE-LABEL: @barriers
// GONE-NOT: optimization_barrier
// GONE: %[[G:.*]] = prim.fusion loop "mul"
// GONE: prim.fusion loop "mul"(%[[G]], %arg1)
// GONE: prim.fusion loop "mul"(%[[G]], %arg1)
// GONE-NOT: optimization_barrier
func.func @barriers(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = prim.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.optimization_barrier %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = prim.optimization_barrier %0 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = prim.mul %1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = prim.mul %2, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3, %4 : tensor<4xf32>, tensor<4xf32>
}

// One that nothing reads is dead code, and so is what only it reads.
// KEEP-LABEL: @unread
// KEEP-NEXT: return %arg0
func.func @unread(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = prim.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.optimization_barrier %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = prim.neg %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = prim.optimization_barrier %2 : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
