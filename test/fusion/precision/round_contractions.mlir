// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --round-contractions --simplify | FileCheck %s
// RUN: accc-opt %s --round-contractions=type=f16 --simplify=keep-factors | sed s/f16/bf16/g | FileCheck %s
// RUN: not accc-opt %s --round-contractions=type=f8 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: --round-contractions rounds to bf16 and f16, not to f8

// What a product reads is rounded where it is computed, and kept so; its result, and that of an addition of a bias to it, as
// well. A product that leads to no other keeps the f32 of its sums.
// CHECK-LABEL: @layers(%arg0: tensor<8x16xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<32xf32>, %arg3: tensor<32x4xf32>)
// CHECK-DAG: %[[X:.*]] = prim.convert %arg0 : {{.*}} -> tensor<8x16xbf16>
// CHECK-DAG: %[[W:.*]] = prim.convert %arg1 : {{.*}} -> tensor<16x32xbf16>
// CHECK-DAG: %[[B:.*]] = prim.convert %arg2 : {{.*}} -> tensor<32xbf16>
// CHECK-DAG: %[[V:.*]] = prim.convert %arg3 : {{.*}} -> tensor<32x4xbf16>
// CHECK: %[[P:.*]] = prim.dot_general %[[X]], %[[W]] {{.*}}wide_result{{.*}} -> tensor<8x32xf32>
// CHECK: %[[BIAS:.*]] = prim.convert %[[B]] : {{.*}} -> tensor<32xf32>
// CHECK: %[[ROW:.*]] = prim.broadcast %[[BIAS]]
// CHECK: %[[S:.*]] = prim.add %[[P]], %[[ROW]]
// CHECK: %[[R:.*]] = prim.convert %[[S]] : {{.*}} -> tensor<8x32xbf16>
// CHECK: %[[T:.*]] = prim.convert %[[R]] : {{.*}} -> tensor<8x32xf32>
// CHECK: %[[H:.*]] = prim.tanh %[[T]]
// CHECK: %[[K:.*]] = prim.convert %[[H]] : {{.*}} -> tensor<8x32xbf16>
// CHECK: %[[KEPT:.*]] = prim.convert %[[K]] : {{.*}} -> tensor<8x32xf32>
// CHECK: %[[Y:.*]] = prim.dot_general %[[K]], %[[V]] {{.*}} -> tensor<8x4xbf16>
// CHECK: prim.dot_general %[[Y]], %[[V]] {{.*}} -> tensor<8x32xbf16>
// CHECK: prim.mul %{{.*}}, %[[KEPT]]
// CHECK: %[[DW:.*]] = prim.dot_general %[[X]], %{{.*}}wide_result{{.*}} -> tensor<16x32xf32>
// CHECK: return %{{.*}}, %[[DW]]
func.func @layers(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>, %b: tensor<32xf32>, %v: tensor<32x4xf32>)
    -> (tensor<8x4xf32>, tensor<16x32xf32>) {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<32xf32>) -> tensor<8x32xf32>
  %2 = prim.add %0, %1 : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  %3 = prim.tanh %2 : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %4 = prim.dot_general %3, %v {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x32xf32>, tensor<32x4xf32>) -> tensor<8x4xf32>
  %g = prim.dot_general %4, %v {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<8x4xf32>, tensor<32x4xf32>) -> tensor<8x32xf32>
  %h = prim.mul %g, %3 : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  %dw = prim.dot_general %x, %h {lhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<8x32xf32>) -> tensor<16x32xf32>
  return %4, %dw : tensor<8x4xf32>, tensor<16x32xf32>
}

// A bias that is computed is added to what the product was rounded to: no library adds it.
// CHECK-LABEL: @computed_bias
// CHECK: prim.dot_general {{.*}} -> tensor<8x16xbf16>
// CHECK: prim.add {{.*}} : (tensor<8x16xf32>, tensor<8x16xf32>)
func.func @computed_bias(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %b: tensor<16xf32>) -> tensor<8x16xf32> {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %1 = prim.exp %b : (tensor<16xf32>) -> tensor<16xf32>
  %2 = prim.broadcast %1 {dimensions = array<i64: 1>} : (tensor<16xf32>) -> tensor<8x16xf32>
  %3 = prim.add %0, %2 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %4 = prim.dot_general %3, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  return %4 : tensor<8x16xf32>
}

// A sum and an argument are rounded for the product alone: another reader has them in f32.
// CHECK-LABEL: @residual
// CHECK: %[[S:.*]] = prim.add %arg0, %{{.*}} : {{.*}} -> tensor<8x16xf32>
// CHECK: %[[R:.*]] = prim.convert %[[S]] : {{.*}} -> tensor<8x16xbf16>
// CHECK: prim.dot_general %[[R]]
// CHECK: prim.add %[[S]], %{{.*}} : {{.*}} -> tensor<8x16xf32>
func.func @residual(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %0 = prim.sin %x : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = prim.add %x, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = prim.dot_general %1, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %3 = prim.add %1, %2 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}

// Through views, also through parts: what was rounded for one product is read as it lies by the next.
// CHECK-LABEL: @views
// CHECK: %[[P:.*]] = prim.dot_general {{.*}} -> tensor<8x32xbf16>
// CHECK: prim.slice %[[P]] {{.*}} -> tensor<8x16xbf16>
// CHECK: prim.slice %[[P]] {{.*}} -> tensor<8x16xbf16>
// CHECK-NOT: prim.convert
// CHECK: prim.dot_general {{.*}}wide_result
func.func @views(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) -> tensor<2x8x8xf32> {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %q = prim.slice %0 {limits = array<i64: 8, 16>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<8x32xf32>) -> tensor<8x16xf32>
  %k = prim.slice %0 {limits = array<i64: 8, 32>, starts = array<i64: 0, 16>, strides = array<i64: 1, 1>} : (tensor<8x32xf32>) -> tensor<8x16xf32>
  %1 = prim.reshape %q : (tensor<8x16xf32>) -> tensor<8x2x8xf32>
  %2 = prim.reshape %k : (tensor<8x16xf32>) -> tensor<8x2x8xf32>
  %3 = prim.dot_general %1, %2 {lhs_batch = array<i64: 1>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 2>} : (tensor<8x2x8xf32>, tensor<8x2x8xf32>) -> tensor<2x8x8xf32>
  return %3 : tensor<2x8x8xf32>
}

// A part of what is not rounded yet is rounded alone.
// CHECK-LABEL: @part
// CHECK: %[[E:.*]] = prim.exp %arg0
// CHECK: %[[S:.*]] = prim.slice %[[E]] {{.*}} -> tensor<1x16xf32>
// CHECK: prim.convert %[[S]] : {{.*}} -> tensor<1x16xbf16>
// CHECK: return %[[E]]
func.func @part(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x16xf32>, tensor<1x4xf32>) {
  %0 = prim.exp %x : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = prim.slice %0 {limits = array<i64: 1, 16>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<8x16xf32>) -> tensor<1x16xf32>
  %2 = prim.dot_general %1, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<1x16xf32>, tensor<16x4xf32>) -> tensor<1x4xf32>
  return %0, %2 : tensor<8x16xf32>, tensor<1x4xf32>
}

// Convolutions give bf16 in any case: libraries have none of them with another result.
// CHECK-LABEL: @convolution
// CHECK: %[[Y:.*]] = prim.convolution {{.*}} : (tensor<2x3x8x8xbf16>, tensor<4x3x3x3xbf16>) -> tensor<2x4x8x8xbf16>
// CHECK: prim.convert %[[Y]] : {{.*}} -> tensor<2x4x8x8xf32>
func.func @convolution(%x: tensor<2x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32> {
  %0 = prim.convolution %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
  return %0 : tensor<2x4x8x8xf32>
}

// An optimizer reads the gradient of a filter in bf16.
// CHECK-LABEL: @update
// CHECK: %[[DW:.*]] = prim.convolution_backward_weights {{.*}} -> tensor<4x3x3x3xbf16>
// CHECK: %[[B:.*]] = prim.optimization_barrier %[[DW]]
// CHECK: %[[G:.*]] = prim.convert %[[B]] : {{.*}} -> tensor<4x3x3x3xf32>
// CHECK: prim.sub %arg2, %[[G]]
func.func @update(%x: tensor<2x3x8x8xf32>, %dy: tensor<2x4x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<4x3x3x3xf32> {
  %0 = prim.convolution_backward_weights %x, %dy {dilations = array<i64: 1, 1>, groups = 1 : i64, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x3x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<4x3x3x3xf32>
  %1 = prim.optimization_barrier %0 : (tensor<4x3x3x3xf32>) -> tensor<4x3x3x3xf32>
  %2 = prim.sub %w, %1 : (tensor<4x3x3x3xf32>, tensor<4x3x3x3xf32>) -> tensor<4x3x3x3xf32>
  return %2 : tensor<4x3x3x3xf32>
}

// Nor are f64, products of full precision, and those that add nothing up rounded.
// CHECK-LABEL: @exact
// CHECK-NOT: bf16
// CHECK: return
func.func @exact(%x: tensor<8x8xf64>, %y: tensor<8x8xf32>, %v: tensor<8x1xf32>)
    -> (tensor<8x8xf64>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8x8x8xf32>) {
  %0 = prim.dot_general %x, %x {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x8xf64>, tensor<8x8xf64>) -> tensor<8x8xf64>
  %1 = prim.dot_general %y, %y {full_precision, lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = prim.dot_general %v, %v {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %3 = prim.dot_general %y, %y {lhs_batch = array<i64>, lhs_contracting = array<i64>, rhs_batch = array<i64>, rhs_contracting = array<i64>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8x8x8xf32>
  return %0, %1, %2, %3 : tensor<8x8xf64>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8x8x8xf32>
}

// An attention reads and gives 16 bits; what it keeps for the gradient are the f32 of its statistics.
// CHECK-LABEL: @attention(%arg0: tensor<2x8x4x16xf32>, %arg1: tensor<2x8x4x16xf32>)
// CHECK-DAG: %[[Q:.*]] = prim.convert %arg0 : {{.*}} -> tensor<2x8x4x16xbf16>
// CHECK-DAG: %[[DY:.*]] = prim.convert %arg1 : {{.*}} -> tensor<2x8x4x16xbf16>
// CHECK: %[[Y:.*]], %[[STATS:.*]] = prim.attention %[[Q]], %[[Q]], %[[Q]] {{.*}} -> (tensor<2x8x4x16xbf16>, tensor<2x4x8xf32>)
// CHECK: prim.attention_backward %[[Q]], %[[Q]], %[[Q]], %[[Y]], %[[STATS]], %[[DY]] {{.*}} -> (tensor<2x8x4x16xbf16>,
func.func @attention(%q: tensor<2x8x4x16xf32>, %dy: tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) {
  %y, %stats = prim.attention %q, %q, %q {causal = true, scale = 0.25 : f64} : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  %dq, %dk, %dv = prim.attention_backward %q, %q, %q, %y, %stats, %dy {causal = true, scale = 0.25 : f64} : (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x4x8xf32>, tensor<2x8x4x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>)
  return %y, %dq : tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>
}

// A number that a product reads is rounded for it alone: others, such as an optimizer, have the same one by chance.
// CHECK-LABEL: @constant(
// CHECK-DAG: %[[C:.*]] = prim.constant dense<3.750000e-01> : tensor<3xf32>
// CHECK: prim.dot_general
// CHECK: prim.mul %arg2, %[[C]]
func.func @constant(%x: tensor<4x3xf32>, %w: tensor<3x4xf32>, %v: tensor<3xf32>) -> (tensor<4xf32>, tensor<3xf32>) {
  %part = prim.constant dense<3.750000e-01> : tensor<3xf32>
  %y = prim.dot_general %x, %part {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4xf32>
  %mean = prim.mul %v, %part : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %y, %mean : tensor<4xf32>, tensor<3xf32>
}
