// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --simplify | FileCheck %s

// CHECK-LABEL: @slice_of_slice
// CHECK-NEXT: prim.slice %arg0 {limits = array<i64: 8>, starts = array<i64: 3>, strides = array<i64: 4>} : (tensor<10xf32>) -> tensor<2xf32>
func.func @slice_of_slice(%x: tensor<10xf32>) -> tensor<2xf32> {
  %0 = prim.slice %x {starts = array<i64: 1>, limits = array<i64: 10>, strides = array<i64: 2>} : (tensor<10xf32>) -> tensor<5xf32>
  %1 = prim.slice %0 {starts = array<i64: 1>, limits = array<i64: 4>, strides = array<i64: 2>} : (tensor<5xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: @slice_of_one_input
// CHECK-NEXT: return %arg1
func.func @slice_of_one_input(%a: tensor<2xf32>, %b: tensor<3xf32>, %c: tensor<2xf32>) -> tensor<3xf32> {
  %0 = prim.concatenate %a, %b, %c {dimension = 0 : i64} : (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<7xf32>
  %1 = prim.slice %0 {starts = array<i64: 2>, limits = array<i64: 5>, strides = array<i64: 1>} : (tensor<7xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// CHECK-LABEL: @slice_of_two_inputs
// CHECK-NEXT: %[[C:.*]] = prim.concatenate %arg1, %arg2
// CHECK-NEXT: prim.slice %[[C]] {limits = array<i64: 4>, starts = array<i64: 1>
func.func @slice_of_two_inputs(%a: tensor<2xf32>, %b: tensor<3xf32>, %c: tensor<2xf32>) -> tensor<3xf32> {
  %0 = prim.concatenate %a, %b, %c {dimension = 0 : i64} : (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<7xf32>
  %1 = prim.slice %0 {starts = array<i64: 3>, limits = array<i64: 6>, strides = array<i64: 1>} : (tensor<7xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// CHECK-LABEL: @slice_of_padded
// CHECK-NEXT: return %arg0
func.func @slice_of_padded(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<3xf32> {
  %0 = prim.pad %x, %v {low = array<i64: 2>, high = array<i64: 1>, interior = array<i64: 1>} : (tensor<3xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = prim.slice %0 {starts = array<i64: 2>, limits = array<i64: 8>, strides = array<i64: 2>} : (tensor<8xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// CHECK-LABEL: @slice_of_padding
// CHECK-NEXT: prim.broadcast %arg1 {dimensions = array<i64>} : (tensor<f32>) -> tensor<2xf32>
func.func @slice_of_padding(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<2xf32> {
  %0 = prim.pad %x, %v {low = array<i64: 2>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  %1 = prim.slice %0 {starts = array<i64: 0>, limits = array<i64: 2>, strides = array<i64: 1>} : (tensor<5xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: @pad_of_pad
// CHECK-NEXT: prim.pad %arg0, %arg1 {high = array<i64: 3>, interior = array<i64: 0>, low = array<i64: 2>}
func.func @pad_of_pad(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<8xf32> {
  %0 = prim.pad %x, %v {low = array<i64: 1>, high = array<i64: 1>, interior = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  %1 = prim.pad %0, %v {low = array<i64: 1>, high = array<i64: 2>, interior = array<i64: 0>} : (tensor<5xf32>, tensor<f32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: @concatenate_of_concatenate
// CHECK-NEXT: prim.concatenate %arg0, %arg1, %arg2 {dimension = 0 : i64}
func.func @concatenate_of_concatenate(%a: tensor<2xf32>, %b: tensor<3xf32>, %c: tensor<2xf32>, %d: tensor<0xf32>) -> tensor<7xf32> {
  %0 = prim.concatenate %a, %b {dimension = 0 : i64} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %1 = prim.concatenate %0, %d, %c {dimension = 0 : i64} : (tensor<5xf32>, tensor<0xf32>, tensor<2xf32>) -> tensor<7xf32>
  return %1 : tensor<7xf32>
}

// The gradient of a tensor that was split in three.
// CHECK-LABEL: @add_of_neighbouring_pads
// CHECK-NEXT: prim.concatenate %arg0, %arg1, %arg2 {dimension = 1 : i64}
// CHECK-NEXT: return
func.func @add_of_neighbouring_pads(%q: tensor<4x2xf32>, %k: tensor<4x2xf32>, %v: tensor<4x2xf32>) -> tensor<4x6xf32> {
  %zero = prim.constant dense<0.0> : tensor<f32>
  %0 = prim.pad %q, %zero {low = array<i64: 0, 0>, high = array<i64: 0, 4>, interior = array<i64: 0, 0>} : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x6xf32>
  %1 = prim.pad %k, %zero {low = array<i64: 0, 2>, high = array<i64: 0, 2>, interior = array<i64: 0, 0>} : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x6xf32>
  %2 = prim.pad %v, %zero {low = array<i64: 0, 4>, high = array<i64: 0, 0>, interior = array<i64: 0, 0>} : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x6xf32>
  %3 = prim.add %2, %1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %4 = prim.add %3, %0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %4 : tensor<4x6xf32>
}

// What the outer pad crops the inner one may have added; interiors and values differ.
// CHECK-LABEL: @pads_of_pads_that_stay
// CHECK-COUNT-7: prim.pad
// CHECK: return
func.func @pads_of_pads_that_stay(%x: tensor<3xf32>, %v: tensor<f32>, %w: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<9xf32>, tensor<7xf32>) {
  %0 = prim.pad %x, %v {low = array<i64: 1>, high = array<i64: 1>, interior = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  %1 = prim.pad %0, %v {low = array<i64: -2>, high = array<i64: 1>, interior = array<i64: 0>} : (tensor<5xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = prim.pad %0, %v {low = array<i64: 1>, high = array<i64: -2>, interior = array<i64: 0>} : (tensor<5xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = prim.pad %x, %v {low = array<i64: 0>, high = array<i64: 2>, interior = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<5xf32>
  %4 = prim.pad %3, %v {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: 1>} : (tensor<5xf32>, tensor<f32>) -> tensor<9xf32>
  %5 = prim.pad %x, %v {low = array<i64: 0>, high = array<i64: 3>, interior = array<i64: 0>} : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  %6 = prim.pad %5, %w {low = array<i64: 1>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<6xf32>, tensor<f32>) -> tensor<7xf32>
  return %1, %2, %4, %6 : tensor<4xf32>, tensor<4xf32>, tensor<9xf32>, tensor<7xf32>
}

// Pads that lie upon each other, leave a gap, are by ones, spread their elements, crop, or differ in two
// dimensions, have a sum.
// CHECK-LABEL: @sums_of_pads_that_stay
// CHECK-NOT: prim.concatenate
// CHECK: return
func.func @sums_of_pads_that_stay(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>)
    -> (tensor<2x4xf32>, tensor<2x5xf32>, tensor<2x4xf32>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<4x4xf32>) {
  %zero = prim.constant dense<0.0> : tensor<f32>
  %one = prim.constant dense<1.0> : tensor<f32>
  %a0 = prim.pad %a, %zero {low = array<i64: 0, 1>, high = array<i64: 0, 1>, interior = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  %b0 = prim.pad %b, %zero {low = array<i64: 0, 1>, high = array<i64: 0, 1>, interior = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  %0 = prim.add %a0, %b0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %a1 = prim.pad %a, %zero {low = array<i64: 0, 0>, high = array<i64: 0, 3>, interior = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x5xf32>
  %b1 = prim.pad %b, %zero {low = array<i64: 0, 3>, high = array<i64: 0, 0>, interior = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x5xf32>
  %1 = prim.add %a1, %b1 : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  %a2 = prim.pad %a, %one {low = array<i64: 0, 0>, high = array<i64: 0, 2>, interior = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  %b2 = prim.pad %b, %one {low = array<i64: 0, 2>, high = array<i64: 0, 0>, interior = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = prim.add %a2, %b2 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %a3 = prim.pad %a, %zero {low = array<i64: 0, 0>, high = array<i64: 0, 2>, interior = array<i64: 0, 1>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x5xf32>
  %b3 = prim.pad %b, %zero {low = array<i64: 0, 2>, high = array<i64: 0, 0>, interior = array<i64: 0, 1>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x5xf32>
  %3 = prim.add %a3, %b3 : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  %a4 = prim.pad %a, %zero {low = array<i64: 0, -1>, high = array<i64: 0, 2>, interior = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x3xf32>
  %b4 = prim.pad %b, %zero {low = array<i64: 0, 1>, high = array<i64: 0, 0>, interior = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x3xf32>
  %4 = prim.add %a4, %b4 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %a5 = prim.pad %a, %zero {low = array<i64: 0, 0>, high = array<i64: 2, 2>, interior = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  %b5 = prim.pad %b, %zero {low = array<i64: 2, 2>, high = array<i64: 0, 0>, interior = array<i64: 0, 0>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  %5 = prim.add %a5, %b5 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x4xf32>, tensor<2x5xf32>, tensor<2x4xf32>, tensor<2x5xf32>, tensor<2x3xf32>, tensor<4x4xf32>
}

// The range that all slices of both results lie in, of the range that the sort gives.
// CHECK-LABEL: @slices_of_sort
// CHECK-NEXT: %[[V:.*]], %[[I:.*]] = prim.sort %arg0 {descending = true, dimension = 1 : i64, range = array<i64: 2, 6>} : (tensor<2x9xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
// CHECK-NEXT: prim.slice %[[V]] {limits = array<i64: 2, 2>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
// CHECK-NEXT: prim.slice %[[I]] {limits = array<i64: 1, 4>, starts = array<i64: 0, 1>, strides = array<i64: 1, 2>} : (tensor<2x4xi64>) -> tensor<1x2xi64>
func.func @slices_of_sort(%x: tensor<2x9xf32>) -> (tensor<2x2xf32>, tensor<1x2xi64>) {
  %v, %i = prim.sort %x {dimension = 1 : i64, descending = true, range = array<i64: 1, 9>} : (tensor<2x9xf32>) -> (tensor<2x8xf32>, tensor<2x8xi64>)
  %0 = prim.slice %v {starts = array<i64: 0, 1>, limits = array<i64: 2, 3>, strides = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
  %1 = prim.slice %i {starts = array<i64: 0, 2>, limits = array<i64: 1, 5>, strides = array<i64: 1, 2>} : (tensor<2x8xi64>) -> tensor<1x2xi64>
  return %0, %1 : tensor<2x2xf32>, tensor<1x2xi64>
}

// CHECK-LABEL: @first_of_sort
// CHECK-NEXT: %[[V:.*]], %{{.*}} = prim.sort %arg0 {descending = true, dimension = 0 : i64, range = array<i64: 0, 3>} : (tensor<9xf32>) -> (tensor<3xf32>, tensor<3xi64>)
// CHECK-NEXT: return %[[V]]
func.func @first_of_sort(%x: tensor<9xf32>) -> tensor<3xf32> {
  %v, %i = prim.sort %x {dimension = 0 : i64, descending = true} : (tensor<9xf32>) -> (tensor<9xf32>, tensor<9xi64>)
  %0 = prim.slice %v {starts = array<i64: 0>, limits = array<i64: 3>, strides = array<i64: 1>} : (tensor<9xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Parts of what is transposed as a whole, as the heads of one projection are.
// CHECK-LABEL: @slices_of_transpose
// CHECK-NEXT: %[[A:.*]] = prim.slice %arg0 {limits = array<i64: 1, 5, 2, 4>, starts = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x5x6x4xf32>) -> tensor<1x5x2x4xf32>
// CHECK-NEXT: %[[AT:.*]] = prim.transpose %[[A]] {permutation = array<i64: 2, 1, 0, 3>} : (tensor<1x5x2x4xf32>) -> tensor<2x5x1x4xf32>
// CHECK-NEXT: %[[AR:.*]] = prim.reshape %[[AT]] : (tensor<2x5x1x4xf32>) -> tensor<2x5x4xf32>
// CHECK-NEXT: %[[B:.*]] = prim.slice %arg0 {limits = array<i64: 1, 4, 6, 3>, starts = array<i64: 0, 1, 2, 0>, strides = array<i64: 1, 2, 3, 1>} : (tensor<1x5x6x4xf32>) -> tensor<1x2x2x3xf32>
// CHECK-NEXT: %[[BT:.*]] = prim.transpose %[[B]] {permutation = array<i64: 2, 1, 0, 3>} : (tensor<1x2x2x3xf32>) -> tensor<2x2x1x3xf32>
// CHECK-NEXT: %[[BR:.*]] = prim.reshape %[[BT]] : (tensor<2x2x1x3xf32>) -> tensor<2x2x3xf32>
// CHECK-NEXT: return %[[AR]], %[[BR]]
func.func @slices_of_transpose(%x: tensor<1x5x6x4xf32>) -> (tensor<2x5x4xf32>, tensor<2x2x3xf32>) {
  %t = prim.transpose %x {permutation = array<i64: 2, 1, 0, 3>} : (tensor<1x5x6x4xf32>) -> tensor<6x5x1x4xf32>
  %r = prim.reshape %t : (tensor<6x5x1x4xf32>) -> tensor<6x5x4xf32>
  %a = prim.slice %r {starts = array<i64: 0, 0, 0>, limits = array<i64: 2, 5, 4>, strides = array<i64: 1, 1, 1>} : (tensor<6x5x4xf32>) -> tensor<2x5x4xf32>
  %b = prim.slice %r {starts = array<i64: 2, 1, 0>, limits = array<i64: 6, 4, 3>, strides = array<i64: 3, 2, 1>} : (tensor<6x5x4xf32>) -> tensor<2x2x3xf32>
  return %a, %b : tensor<2x5x4xf32>, tensor<2x2x3xf32>
}

// CHECK-LABEL: @slice_of_transpose
// CHECK-NEXT: %[[A:.*]] = prim.slice %arg0 {limits = array<i64: 5, 3>, starts = array<i64: 0, 1>, strides = array<i64: 1, 1>} : (tensor<5x6xf32>) -> tensor<5x2xf32>
// CHECK-NEXT: prim.transpose %[[A]] {permutation = array<i64: 1, 0>} : (tensor<5x2xf32>) -> tensor<2x5xf32>
func.func @slice_of_transpose(%x: tensor<5x6xf32>) -> tensor<2x5xf32> {
  %t = prim.transpose %x {permutation = array<i64: 1, 0>} : (tensor<5x6xf32>) -> tensor<6x5xf32>
  %a = prim.slice %t {starts = array<i64: 1, 0>, limits = array<i64: 3, 5>, strides = array<i64: 1, 1>} : (tensor<6x5xf32>) -> tensor<2x5xf32>
  return %a : tensor<2x5xf32>
}

// The whole is read as well; or another shape of it is; or nothing is taken of a dimension that is one.
// CHECK-LABEL: @slices_of_transposes_that_stay
// CHECK: %[[T:.*]] = prim.transpose %arg0
// CHECK: prim.slice %[[T]]
// CHECK: %[[U:.*]] = prim.transpose %arg1
// CHECK: %[[R:.*]] = prim.reshape %[[U]]
// CHECK: prim.slice %[[R]]
func.func @slices_of_transposes_that_stay(%x: tensor<5x6xf32>, %y: tensor<4x6xf32>, %z: tensor<4x1x6xf32>) -> (tensor<6x5xf32>, tensor<2x5xf32>, tensor<2x2x4xf32>, tensor<6x4x0xf32>) {
  %t = prim.transpose %x {permutation = array<i64: 1, 0>} : (tensor<5x6xf32>) -> tensor<6x5xf32>
  %a = prim.slice %t {starts = array<i64: 1, 0>, limits = array<i64: 3, 5>, strides = array<i64: 1, 1>} : (tensor<6x5xf32>) -> tensor<2x5xf32>
  %u = prim.transpose %y {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %r = prim.reshape %u : (tensor<6x4xf32>) -> tensor<3x2x4xf32>
  %b = prim.slice %r {starts = array<i64: 1, 0, 0>, limits = array<i64: 3, 2, 4>, strides = array<i64: 1, 1, 1>} : (tensor<3x2x4xf32>) -> tensor<2x2x4xf32>
  %v = prim.transpose %z {permutation = array<i64: 2, 0, 1>} : (tensor<4x1x6xf32>) -> tensor<6x4x1xf32>
  %c = prim.slice %v {starts = array<i64: 0, 0, 0>, limits = array<i64: 6, 4, 0>, strides = array<i64: 1, 1, 1>} : (tensor<6x4x1xf32>) -> tensor<6x4x0xf32>
  return %t, %a, %b, %c : tensor<6x5xf32>, tensor<2x5xf32>, tensor<2x2x4xf32>, tensor<6x4x0xf32>
}

// Many.
// CHECK-LABEL: @many_slices_of_transpose
// CHECK: %[[T:.*]] = prim.transpose %arg0
// CHECK-COUNT-5: prim.slice %[[T]]
func.func @many_slices_of_transpose(%x: tensor<4x5xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %t = prim.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %0 = prim.slice %t {starts = array<i64: 0, 0>, limits = array<i64: 1, 4>, strides = array<i64: 1, 1>} : (tensor<5x4xf32>) -> tensor<1x4xf32>
  %1 = prim.slice %t {starts = array<i64: 1, 0>, limits = array<i64: 2, 4>, strides = array<i64: 1, 1>} : (tensor<5x4xf32>) -> tensor<1x4xf32>
  %2 = prim.slice %t {starts = array<i64: 2, 0>, limits = array<i64: 3, 4>, strides = array<i64: 1, 1>} : (tensor<5x4xf32>) -> tensor<1x4xf32>
  %3 = prim.slice %t {starts = array<i64: 3, 0>, limits = array<i64: 4, 4>, strides = array<i64: 1, 1>} : (tensor<5x4xf32>) -> tensor<1x4xf32>
  %4 = prim.slice %t {starts = array<i64: 4, 0>, limits = array<i64: 5, 4>, strides = array<i64: 1, 1>} : (tensor<5x4xf32>) -> tensor<1x4xf32>
  return %0, %1, %2, %3, %4 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}
