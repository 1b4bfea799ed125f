// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt --form-fusions=target=cuda %s | FileCheck %s
// RUN: accc-opt --form-fusions=target=cpu %s | FileCheck %s --check-prefix=CPU

// Small reductions of one shape are one launch on a GPU, whatever they read.
// CHECK-LABEL: @small
// CHECK: prim.fusion reduce "reduce"(%arg0, %arg1)
// CHECK-NOT: prim.fusion
// CPU-LABEL: @small
// CPU-COUNT-2: prim.fusion
func.func @small(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %0 = prim.reduce sum %a {dimensions = array<i64: 0>} : (tensor<8x16xf32>) -> tensor<16xf32>
  %1 = prim.reduce sum %b {dimensions = array<i64: 0>} : (tensor<8x16xf32>) -> tensor<16xf32>
  return %0, %1 : tensor<16xf32>, tensor<16xf32>
}

// Not those of other shapes or dimensions.
// CHECK-LABEL: @shapes
// CHECK-COUNT-3: prim.fusion
func.func @shapes(%a: tensor<8x8xf32>, %b: tensor<4x8xf32>, %c: tensor<8x8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = prim.reduce sum %a {dimensions = array<i64: 0>} : (tensor<8x8xf32>) -> tensor<8xf32>
  %1 = prim.reduce sum %b {dimensions = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<8xf32>
  %2 = prim.reduce sum %c {dimensions = array<i64: 1>} : (tensor<8x8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Not where one needs what a product makes of the other.
// CHECK-LABEL: @dependent
// CHECK-COUNT-2: prim.fusion
func.func @dependent(%a: tensor<8x16xf32>, %w: tensor<16x128xf32>) -> tensor<16xf32> {
  %0 = prim.reduce sum %a {dimensions = array<i64: 0>} : (tensor<8x16xf32>) -> tensor<16xf32>
  %1 = prim.reshape %0 : (tensor<16xf32>) -> tensor<1x16xf32>
  %2 = prim.dot_general %1, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1x16xf32>, tensor<16x128xf32>) -> tensor<1x128xf32>
  %3 = prim.reshape %2 : (tensor<1x128xf32>) -> tensor<8x16xf32>
  %4 = prim.reduce sum %3 {dimensions = array<i64: 0>} : (tensor<8x16xf32>) -> tensor<16xf32>
  return %4 : tensor<16xf32>
}

// Large ones keep a launch each: the device is busy with one.
// CHECK-LABEL: @large
// CHECK-COUNT-2: prim.fusion
func.func @large(%a: tensor<2048x512xf32>, %b: tensor<2048x512xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %0 = prim.reduce sum %a {dimensions = array<i64: 0>} : (tensor<2048x512xf32>) -> tensor<512xf32>
  %1 = prim.reduce sum %b {dimensions = array<i64: 0>} : (tensor<2048x512xf32>) -> tensor<512xf32>
  return %0, %1 : tensor<512xf32>, tensor<512xf32>
}
