// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --fuse-epilogues='target=cuda' | FileCheck %s
// RUN: accc-opt %s --fuse-epilogues='target=cpu' | FileCheck %s --check-prefix=CPU

// The library of a CPU adds no bias.
// CPU-NOT: gemm

// CHECK-LABEL: @rows
// CHECK-NEXT: %[[R:.*]] = prim.gemm %arg0, %arg1, %arg2 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<6x8xf32>
// CHECK-NEXT: return %[[R]]
func.func @rows(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<6x8xf32> {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %1 = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<8xf32>) -> tensor<6x8xf32>
  %2 = prim.add %0, %1 : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %2 : tensor<6x8xf32>
}

// A wide result that is read rounded alone is stored so, with a bias of as few bits; else it stays wide.
// CHECK-LABEL: @rounded
// CHECK: prim.gemm %arg0, %arg1, %arg2 {{.*}} : (tensor<6x4xbf16>, tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<6x8xbf16>
// CHECK-NOT: prim.add
// CHECK-LABEL: @wide
// CHECK: prim.gemm %arg0, %arg1, %arg2 {{.*}}wide_result{{.*}} : (tensor<6x4xbf16>, tensor<4x8xbf16>, tensor<8xf32>) -> tensor<6x8xf32>
// CHECK: prim.convert %{{.*}} : (tensor<6x8xf32>) -> tensor<6x8xbf16>
// CHECK-LABEL: @read_wide
// CHECK: prim.gemm {{.*}}wide_result{{.*}} -> tensor<6x8xf32>
func.func @rounded(%x: tensor<6x4xbf16>, %w: tensor<4x8xbf16>, %b: tensor<8xbf16>) -> tensor<6x8xbf16> {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>, wide_result} : (tensor<6x4xbf16>, tensor<4x8xbf16>) -> tensor<6x8xf32>
  %f = prim.convert %b : (tensor<8xbf16>) -> tensor<8xf32>
  %1 = prim.broadcast %f {dimensions = array<i64: 1>} : (tensor<8xf32>) -> tensor<6x8xf32>
  %2 = prim.add %0, %1 : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %3 = prim.convert %2 : (tensor<6x8xf32>) -> tensor<6x8xbf16>
  return %3 : tensor<6x8xbf16>
}
func.func @wide(%x: tensor<6x4xbf16>, %w: tensor<4x8xbf16>, %b: tensor<8xf32>) -> tensor<6x8xbf16> {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>, wide_result} : (tensor<6x4xbf16>, tensor<4x8xbf16>) -> tensor<6x8xf32>
  %1 = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<8xf32>) -> tensor<6x8xf32>
  %2 = prim.add %0, %1 : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %3 = prim.convert %2 : (tensor<6x8xf32>) -> tensor<6x8xbf16>
  return %3 : tensor<6x8xbf16>
}
func.func @read_wide(%x: tensor<6x4xbf16>, %w: tensor<4x8xbf16>, %b: tensor<8xbf16>) -> (tensor<6x8xbf16>, tensor<6x8xf32>) {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>, wide_result} : (tensor<6x4xbf16>, tensor<4x8xbf16>) -> tensor<6x8xf32>
  %f = prim.convert %b : (tensor<8xbf16>) -> tensor<8xf32>
  %1 = prim.broadcast %f {dimensions = array<i64: 1>} : (tensor<8xf32>) -> tensor<6x8xf32>
  %2 = prim.add %0, %1 : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %3 = prim.convert %2 : (tensor<6x8xf32>) -> tensor<6x8xbf16>
  return %3, %2 : tensor<6x8xbf16>, tensor<6x8xf32>
}

// As other shapes, the bias first; it may be known after the product.
// CHECK-LABEL: @reshaped
// CHECK: %[[B:.*]] = prim.reshape %arg2 : (tensor<1x2x4xf32>) -> tensor<8xf32>
// CHECK: %[[R:.*]] = prim.gemm %arg0, %arg1, %[[B]]
// CHECK: prim.reshape %[[R]] : (tensor<6x8xf32>) -> tensor<2x3x2x4xf32>
// CHECK-NOT: prim.add
func.func @reshaped(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>, %b: tensor<1x2x4xf32>) -> tensor<2x3x2x4xf32> {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %1 = prim.reshape %0 : (tensor<6x8xf32>) -> tensor<2x3x2x4xf32>
  %2 = prim.broadcast %b {dimensions = array<i64: 1, 2, 3>} : (tensor<1x2x4xf32>) -> tensor<2x3x2x4xf32>
  %3 = prim.add %2, %1 : (tensor<2x3x2x4xf32>, tensor<2x3x2x4xf32>) -> tensor<2x3x2x4xf32>
  return %3 : tensor<2x3x2x4xf32>
}

// Not: a bias of each row; one of some columns; one that a kernel computes; a product that others
// read; the product of a matrix and a vector.
// CHECK-LABEL: @columns
// CHECK-NOT: gemm
func.func @columns(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>, %b: tensor<6xf32>) -> tensor<6x8xf32> {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %1 = prim.broadcast %b {dimensions = array<i64: 0>} : (tensor<6xf32>) -> tensor<6x8xf32>
  %2 = prim.add %0, %1 : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %2 : tensor<6x8xf32>
}
func.func @some(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>) -> tensor<6x2x4xf32> {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %1 = prim.reshape %0 : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
  %2 = prim.broadcast %b {dimensions = array<i64: 2>} : (tensor<4xf32>) -> tensor<6x2x4xf32>
  %3 = prim.add %2, %1 : (tensor<6x2x4xf32>, tensor<6x2x4xf32>) -> tensor<6x2x4xf32>
  return %3 : tensor<6x2x4xf32>
}
func.func @computed(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>, %a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<6x8xf32> {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %1 = prim.add %a, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = prim.broadcast %1 {dimensions = array<i64: 1>} : (tensor<8xf32>) -> tensor<6x8xf32>
  %3 = prim.add %0, %2 : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %3 : tensor<6x8xf32>
}
func.func @read(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>) {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
  %1 = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<8xf32>) -> tensor<6x8xf32>
  %2 = prim.add %0, %1 : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %0, %2 : tensor<6x8xf32>, tensor<6x8xf32>
}
func.func @vector(%x: tensor<6x4xf32>, %w: tensor<4x1xf32>, %b: tensor<1xf32>) -> tensor<6x1xf32> {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x1xf32>) -> tensor<6x1xf32>
  %1 = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<1xf32>) -> tensor<6x1xf32>
  %2 = prim.add %0, %1 : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xf32>
  return %2 : tensor<6x1xf32>
}
