// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt --cse --simplify %s | FileCheck %s --check-prefix=KEEP

// CHECK-LABEL: @means
// CHECK: prim.all_reduce %arg0, %arg1 : (tensor<4xf32>, tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>)
func.func @means(%a: tensor<4xf32>, %b: tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>) {
  %r:2 = prim.all_reduce %a, %b : (tensor<4xf32>, tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @sum
// CHECK: prim.all_reduce %arg0 {sum} : (tensor<4xf32>) -> tensor<4xf32>
func.func @sum(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = prim.all_reduce %a {sum} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What one process knows says nothing of the others.
// KEEP-LABEL: @constant
// KEEP: prim.all_reduce
func.func @constant() -> tensor<2xf32> {
  %0 = prim.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = prim.all_reduce %0 : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
