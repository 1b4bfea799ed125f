// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --simplify | FileCheck %s

// CHECK-LABEL: @of_transposed
// CHECK-NEXT: prim.dot_general %arg0, %arg1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: return
func.func @of_transposed(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %0 = prim.transpose %w {permutation = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = prim.dot_general %x, %0 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// Attention's heads, read where they lie.
// CHECK-LABEL: @heads
// CHECK-NEXT: prim.dot_general %arg0, %arg1 {lhs_batch = array<i64: 0, 2>, lhs_contracting = array<i64: 3>, rhs_batch = array<i64: 0, 2>, rhs_contracting = array<i64: 3>}
// CHECK-NEXT: return
func.func @heads(%q: tensor<2x5x3x4xf32>, %k: tensor<2x5x3x4xf32>) -> tensor<2x3x5x5xf32> {
  %0 = prim.transpose %q {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %1 = prim.transpose %k {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x4x5xf32>
  %2 = prim.dot_general %0, %1 {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 2>} : (tensor<2x3x5x4xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x5x5xf32>
  return %2 : tensor<2x3x5x5xf32>
}

// CHECK-LABEL: @result_transposed
// CHECK-NEXT: prim.dot_general %arg1, %arg0 {lhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<3x4xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: return
func.func @result_transposed(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<4x2xf32> {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = prim.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// CHECK-LABEL: @scaled
// CHECK-NEXT: %[[C:.*]] = prim.constant dense<2.500000e-01> : tensor<2x4xf32>
// CHECK-NEXT: %[[D:.*]] = prim.dot_general %arg0, %arg1
// CHECK-NEXT: prim.mul %[[D]], %[[C]]
func.func @scaled(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %half = prim.constant dense<0.5> : tensor<2x3xf32>
  %other = prim.constant dense<0.5> : tensor<3x4xf32>
  %0 = prim.mul %x, %half : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = prim.mul %w, %other : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = prim.dot_general %0, %1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// CHECK-LABEL: @scaled_result_transposed
// CHECK-NEXT: %[[C:.*]] = prim.constant dense<5.000000e-01> : tensor<4x2xf32>
// CHECK-NEXT: %[[D:.*]] = prim.dot_general %arg1, %arg0
// CHECK-NEXT: prim.mul %[[D]], %[[C]]
func.func @scaled_result_transposed(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<4x2xf32> {
  %half = prim.constant dense<0.5> : tensor<2x4xf32>
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = prim.mul %0, %half : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = prim.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}

// A kernel that covers its input has one place; strides do not matter.
// CHECK-LABEL: @convolutions_at_one_place
// CHECK-NEXT: %[[Y:.*]] = prim.dot_general %arg0, %arg1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1, 2, 3>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1, 2, 3>} : (tensor<5x3x4x2xf32>, tensor<7x3x4x2xf32>) -> tensor<5x7xf32>
// CHECK-NEXT: prim.reshape %[[Y]]
// CHECK-NEXT: %[[G:.*]] = prim.reshape %arg2 : (tensor<5x7x1x1xf32>) -> tensor<5x7xf32>
// CHECK-NEXT: prim.dot_general %[[G]], %arg1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<5x7xf32>, tensor<7x3x4x2xf32>) -> tensor<5x3x4x2xf32>
// CHECK-NEXT: prim.dot_general %[[G]], %arg0 {lhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<5x7xf32>, tensor<5x3x4x2xf32>) -> tensor<7x3x4x2xf32>
// CHECK-NEXT: return
func.func @convolutions_at_one_place(%x: tensor<5x3x4x2xf32>, %w: tensor<7x3x4x2xf32>, %dy: tensor<5x7x1x1xf32>)
    -> (tensor<5x7x1x1xf32>, tensor<5x3x4x2xf32>, tensor<7x3x4x2xf32>) {
  %0 = prim.convolution %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 2, 3>} : (tensor<5x3x4x2xf32>, tensor<7x3x4x2xf32>) -> tensor<5x7x1x1xf32>
  %1 = prim.convolution_backward_data %dy, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 2, 3>} : (tensor<5x7x1x1xf32>, tensor<7x3x4x2xf32>) -> tensor<5x3x4x2xf32>
  %2 = prim.convolution_backward_weights %x, %dy {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 0, 0>, pad_low = array<i64: 0, 0>, strides = array<i64: 2, 3>} : (tensor<5x3x4x2xf32>, tensor<5x7x1x1xf32>) -> tensor<7x3x4x2xf32>
  return %0, %1, %2 : tensor<5x7x1x1xf32>, tensor<5x3x4x2xf32>, tensor<7x3x4x2xf32>
}

// Pads, groups, dilations and a smaller kernel; a gradient of no place at all.
// CHECK-LABEL: @convolutions_that_stay
// CHECK-COUNT-4: prim.convolution %
// CHECK-COUNT-2: prim.convolution_backward_data
// CHECK: prim.convolution_backward_weights
// CHECK-NOT: prim.dot_general
func.func @convolutions_that_stay(%x: tensor<5x2x2xf32>, %w: tensor<4x2x2xf32>, %half: tensor<4x1x2xf32>, %long: tensor<5x2x3xf32>, %dy: tensor<5x4x1xf32>, %none: tensor<5x4x0xf32>)
    -> (tensor<5x4x1xf32>, tensor<5x4x1xf32>, tensor<5x4x1xf32>, tensor<5x4x2xf32>, tensor<5x2x2xf32>, tensor<5x2x2xf32>, tensor<4x2x2xf32>) {
  %0 = prim.convolution %x, %w {dilations = array<i64: 1>, groups = 1 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 1>, strides = array<i64: 2>} : (tensor<5x2x2xf32>, tensor<4x2x2xf32>) -> tensor<5x4x1xf32>
  %1 = prim.convolution %x, %w {dilations = array<i64: 1>, groups = 1 : i64, pad_high = array<i64: 1>, pad_low = array<i64: 0>, strides = array<i64: 2>} : (tensor<5x2x2xf32>, tensor<4x2x2xf32>) -> tensor<5x4x1xf32>
  %2 = prim.convolution %long, %w {dilations = array<i64: 2>, groups = 1 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<5x2x3xf32>, tensor<4x2x2xf32>) -> tensor<5x4x1xf32>
  %3 = prim.convolution %long, %w {dilations = array<i64: 1>, groups = 1 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<5x2x3xf32>, tensor<4x2x2xf32>) -> tensor<5x4x2xf32>
  %4 = prim.convolution_backward_data %dy, %half {dilations = array<i64: 1>, groups = 2 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<5x4x1xf32>, tensor<4x1x2xf32>) -> tensor<5x2x2xf32>
  %5 = prim.convolution_backward_data %none, %w {dilations = array<i64: 2>, groups = 1 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<5x4x0xf32>, tensor<4x2x2xf32>) -> tensor<5x2x2xf32>
  %6 = prim.convolution_backward_weights %long, %dy {dilations = array<i64: 2>, groups = 1 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 1>} : (tensor<5x2x3xf32>, tensor<5x4x1xf32>) -> tensor<4x2x2xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<5x4x1xf32>, tensor<5x4x1xf32>, tensor<5x4x1xf32>, tensor<5x4x2xf32>, tensor<5x2x2xf32>, tensor<5x2x2xf32>, tensor<4x2x2xf32>
}
