// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --form-fusions | FileCheck %s
// What a kernel reads of another it computes again where that is free. In each function a contraction
// stands between the two kernels, so that they cannot be one.

// The sigmoid of SiLU is computed from %x, which the second kernel reads anyway.
// CHECK-LABEL: @silu
// CHECK: %[[X:.*]] = prim.dot_general %arg0, %arg1
// CHECK-NEXT: %[[Y:.*]] = prim.fusion loop "logistic_mul"(%[[X]])
// CHECK: %[[Z:.*]] = prim.dot_general %[[Y]], %arg1
// CHECK-NEXT: prim.fusion loop "logistic_sub_mul_add"(%[[X]], %[[Z]])
// CHECK: prim.logistic
// CHECK: return
func.func @silu(%a: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = prim.dot_general %a, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = prim.logistic %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = prim.mul %x, %s : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = prim.dot_general %y, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %one = prim.constant dense<1.0> : tensor<64x64xf32>
  %0 = prim.sub %one, %s : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = prim.mul %x, %0 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = prim.add %1, %one : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = prim.mul %2, %s : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = prim.mul %3, %z : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}

// A contraction reads the sigmoid, so that it has to be in memory.
// CHECK-LABEL: @read_by_library
// CHECK: prim.fusion loop "logistic"
// CHECK: prim.fusion loop
// CHECK-NOT: prim.logistic
// CHECK: return
func.func @read_by_library(%a: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = prim.dot_general %a, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = prim.logistic %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = prim.dot_general %s, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = prim.mul %s, %z : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = prim.mul %0, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// Two values would be in memory in place of one.
// CHECK-LABEL: @more_memory
// CHECK: %[[X:.*]] = prim.dot_general %arg0, %arg1
// CHECK-NEXT: %[[Y:.*]] = prim.dot_general %arg1, %arg0
// CHECK-NEXT: %[[F:.*]]:2 = prim.fusion loop "add_neg"(%[[X]], %[[Y]])
// CHECK: %[[Z:.*]] = prim.dot_general %[[F]]#1, %arg1
// CHECK-NEXT: prim.fusion loop "mul"(%[[F]]#0, %[[Z]])
func.func @more_memory(%a: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = prim.dot_general %a, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = prim.dot_general %w, %a {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = prim.add %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = prim.neg %s : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = prim.dot_general %n, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = prim.mul %s, %z : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// Reading and writing one value is faster than four exponentials.
// CHECK-LABEL: @more_work
// CHECK: prim.fusion loop "exp_neg"
// CHECK: prim.fusion loop "mul"
// CHECK-NOT: prim.exp
// CHECK: return
func.func @more_work(%a: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = prim.dot_general %a, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = prim.exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = prim.exp %0 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = prim.exp %1 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = prim.exp %2 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = prim.neg %s : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = prim.dot_general %n, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = prim.mul %s, %z : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = prim.mul %3, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}

// Means are kept, centred values are not.
// CHECK-LABEL: @keeps_reductions
// CHECK: %[[X:.*]] = prim.dot_general %arg0, %arg1
// CHECK-NEXT: %[[F:.*]]:2 = prim.fusion reduce "reduce_sub_neg"(%[[X]]) : (tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64x64xf32>)
// CHECK: %[[Z:.*]] = prim.dot_general %[[F]]#1, %arg1
// CHECK-NEXT: prim.fusion loop "sub_mul"(%[[X]], %[[F]]#0, %[[Z]])
func.func @keeps_reductions(%a: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = prim.dot_general %a, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = prim.reduce sum %x {dimensions = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %b = prim.broadcast %m {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x64xf32>
  %c = prim.sub %x, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = prim.neg %c : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = prim.dot_general %n, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = prim.mul %c, %z : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// Through a reshape, for each of two kernels.
// CHECK-LABEL: @two_readers
// CHECK: %[[X:.*]] = prim.dot_general %arg0, %arg1
// CHECK-NEXT: %[[Y:.*]] = prim.fusion loop "abs_neg"(%[[X]]) : (tensor<64x64xf32>) -> tensor<64x64xf32>
// CHECK: prim.fusion reduce "abs_mul_reduce"(%[[X]]
// CHECK: prim.fusion loop "abs_pad_mul"(%[[X]]
func.func @two_readers(%a: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<4097xf32> {
  %x = prim.dot_general %a, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = prim.abs %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = prim.neg %t : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = prim.dot_general %n, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = prim.mul %t, %z : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %sum = prim.reduce sum %0 {dimensions = array<i64: 0, 1>} : (tensor<64x64xf32>) -> tensor<f32>
  %flat = prim.reshape %t : (tensor<64x64xf32>) -> tensor<4096xf32>
  %zero = prim.constant dense<0.0> : tensor<f32>
  %more = prim.pad %flat, %zero {low = array<i64: 0>, high = array<i64: 1>, interior = array<i64: 0>} : (tensor<4096xf32>, tensor<f32>) -> tensor<4097xf32>
  %factor = prim.broadcast %sum {dimensions = array<i64>} : (tensor<f32>) -> tensor<4097xf32>
  %1 = prim.mul %more, %factor : (tensor<4097xf32>, tensor<4097xf32>) -> tensor<4097xf32>
  return %1 : tensor<4097xf32>
}

// What is cut off is read where it lies, by each of two kernels.
// CHECK-LABEL: @cut
// CHECK: %[[X:.*]] = prim.dot_general %arg0, %arg1
// CHECK-NEXT: %[[Y:.*]] = prim.fusion loop "slice_exp"(%[[X]])
// CHECK: %[[Z:.*]] = prim.dot_general %[[Y]], %arg2
// CHECK-NEXT: prim.fusion loop "slice_mul"(%[[X]], %[[Z]])
// CHECK: return
func.func @cut(%a: tensor<64x64xf32>, %v: tensor<64x65xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = prim.dot_general %a, %v {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x65xf32>) -> tensor<64x65xf32>
  %s = prim.slice %x {starts = array<i64: 0, 1>, limits = array<i64: 64, 65>, strides = array<i64: 1, 1>} : (tensor<64x65xf32>) -> tensor<64x64xf32>
  %y = prim.exp %s : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = prim.dot_general %y, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = prim.mul %s, %z : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// Of every other element less is read than of what holds them all.
// CHECK-LABEL: @every_other
// CHECK: prim.fusion loop "slice"
func.func @every_other(%a: tensor<64x65xf32>, %w: tensor<65x65xf32>) -> (tensor<64x33xf32>, tensor<64x33xf32>) {
  %x = prim.dot_general %a, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x65xf32>, tensor<65x65xf32>) -> tensor<64x65xf32>
  %s = prim.slice %x {starts = array<i64: 0, 0>, limits = array<i64: 64, 65>, strides = array<i64: 1, 2>} : (tensor<64x65xf32>) -> tensor<64x33xf32>
  %y = prim.exp %s : (tensor<64x33xf32>) -> tensor<64x33xf32>
  %v = prim.slice %w {starts = array<i64: 0, 0>, limits = array<i64: 33, 33>, strides = array<i64: 1, 1>} : (tensor<65x65xf32>) -> tensor<33x33xf32>
  %z = prim.dot_general %y, %v {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<64x33xf32>, tensor<33x33xf32>) -> tensor<64x33xf32>
  %0 = prim.mul %s, %z : (tensor<64x33xf32>, tensor<64x33xf32>) -> tensor<64x33xf32>
  return %0, %y : tensor<64x33xf32>, tensor<64x33xf32>
}

// Two slices take all of a product apart. The second kernel needs one of them only, as the sigmoid of the other lies in
// memory: it computes the product and the slice itself, and waits for neither.
// CHECK-LABEL: @halves
// CHECK: %[[F:.*]]:2 = prim.fusion reduce "mul_logistic_reduce"(%arg0, %arg1)
// CHECK: %[[G:.*]] = prim.fusion loop "mul_concatenate"(%arg0, %arg1, %[[F]]#1, %[[F]]#0)
// CHECK: prim.slice %arg2 {limits = array<i64: 1, 4096>
// CHECK: return %[[F]]#0, %[[G]]
func.func @halves(%x: tensor<2x4096xf32>, %scale: tensor<f32>) -> (tensor<1x4096xf32>, tensor<2x4096xf32>) {
  %s = prim.broadcast %scale {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x4096xf32>
  %y = prim.mul %x, %s : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  %a = prim.slice %y {limits = array<i64: 1, 4096>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<2x4096xf32>) -> tensor<1x4096xf32>
  %b = prim.slice %y {limits = array<i64: 2, 4096>, starts = array<i64: 1, 0>, strides = array<i64: 1, 1>} : (tensor<2x4096xf32>) -> tensor<1x4096xf32>
  %g = prim.logistic %b : (tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %p = prim.mul %a, %g : (tensor<1x4096xf32>, tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %m = prim.reduce max %p {dimensions = array<i64: 0>} : (tensor<1x4096xf32>) -> tensor<4096xf32>
  %rows = prim.broadcast %m {dimensions = array<i64: 1>} : (tensor<4096xf32>) -> tensor<1x4096xf32>
  %da = prim.mul %rows, %g : (tensor<1x4096xf32>, tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %db = prim.mul %rows, %a : (tensor<1x4096xf32>, tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %d = prim.concatenate %da, %db {dimension = 0 : i64} : (tensor<1x4096xf32>, tensor<1x4096xf32>) -> tensor<2x4096xf32>
  %dx = prim.mul %d, %s : (tensor<2x4096xf32>, tensor<2x4096xf32>) -> tensor<2x4096xf32>
  return %g, %dx : tensor<1x4096xf32>, tensor<2x4096xf32>
}
