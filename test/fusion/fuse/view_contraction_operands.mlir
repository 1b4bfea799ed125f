// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --view-contraction-operands=target=cuda | FileCheck %s
// RUN: accc-opt %s --view-contraction-operands=target=cpu | FileCheck %s --check-prefix=CPU

// A CPU's library reads copies as fast.
// CPU-NOT: strided

// Heads of q, k and v side by side in a product with a bias: as rows, transposed, and brought before the positions.
// CHECK-LABEL: @heads
// CHECK: %[[QKV:.*]] = prim.gemm
// CHECK-NEXT: %[[SCORES:.*]] = prim.gemm %[[QKV]], %[[QKV]] {lhs_batch = array<i64: 0, 2>, lhs_contracting = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 2>,
// CHECK-SAME: views = [memref<2x5x3x8xf32, strided<[360, 72, 8, 1]>>, memref<2x3x8x5xf32, strided<[360, 8, 1, 72], offset: 24>>]}
// CHECK-SAME: -> tensor<2x3x5x5xf32>
// CHECK-NEXT: %[[P:.*]] = prim.exp %[[SCORES]]
// CHECK-NEXT: %[[Y:.*]] = prim.gemm %[[P]], %[[QKV]] {{.*}}views = [memref<2x3x5x5xf32, strided<[75, 25, 5, 1]>>, memref<2x3x5x8xf32, strided<[360, 8, 72, 1], offset: 48>>]}
// CHECK-NEXT: return %[[Y]]
func.func @heads(%x: tensor<2x5x24xf32>, %w: tensor<24x72xf32>, %b: tensor<72xf32>) -> tensor<2x3x5x8xf32> {
  %qkv = prim.gemm %x, %w, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x5x24xf32>, tensor<24x72xf32>, tensor<72xf32>) -> tensor<2x5x72xf32>
  %0 = prim.slice %qkv {starts = array<i64: 0, 0, 0>, limits = array<i64: 2, 5, 24>, strides = array<i64: 1, 1, 1>} : (tensor<2x5x72xf32>) -> tensor<2x5x24xf32>
  %q = prim.reshape %0 : (tensor<2x5x24xf32>) -> tensor<2x5x3x8xf32>
  %1 = prim.slice %qkv {starts = array<i64: 0, 0, 24>, limits = array<i64: 2, 5, 48>, strides = array<i64: 1, 1, 1>} : (tensor<2x5x72xf32>) -> tensor<2x5x24xf32>
  %2 = prim.transpose %1 {permutation = array<i64: 0, 2, 1>} : (tensor<2x5x24xf32>) -> tensor<2x24x5xf32>
  %k = prim.reshape %2 : (tensor<2x24x5xf32>) -> tensor<2x3x8x5xf32>
  %scores = prim.dot_general %q, %k {lhs_batch = array<i64: 0, 2>, lhs_contracting = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 2>} : (tensor<2x5x3x8xf32>, tensor<2x3x8x5xf32>) -> tensor<2x3x5x5xf32>
  %p = prim.exp %scores : (tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32>
  %3 = prim.reshape %qkv : (tensor<2x5x72xf32>) -> tensor<2x5x3x3x8xf32>
  %4 = prim.slice %3 {starts = array<i64: 0, 0, 2, 0, 0>, limits = array<i64: 2, 5, 3, 3, 8>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<2x5x3x3x8xf32>) -> tensor<2x5x1x3x8xf32>
  %5 = prim.transpose %4 {permutation = array<i64: 2, 0, 3, 1, 4>} : (tensor<2x5x1x3x8xf32>) -> tensor<1x2x3x5x8xf32>
  %v = prim.reshape %5 : (tensor<1x2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  %y = prim.dot_general %p, %v {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 2>} : (tensor<2x3x5x5xf32>, tensor<2x3x5x8xf32>) -> tensor<2x3x5x8xf32>
  return %y : tensor<2x3x5x8xf32>
}

// What a kernel computes is kept for its parts if these are all of it, each counted once.
// CHECK-LABEL: @all_of_a_kernel
// CHECK: %[[T:.*]] = prim.exp
// CHECK-NEXT: %[[R:.*]] = prim.gemm %[[T]], %[[T]]
// CHECK-NEXT: return %[[R]]
func.func @all_of_a_kernel(%x: tensor<4x16xf32>) -> tensor<4x4xf32> {
  %t = prim.exp %x : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %0 = prim.slice %t {starts = array<i64: 0, 0>, limits = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %1 = prim.slice %t {starts = array<i64: 0, 8>, limits = array<i64: 4, 16>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %r = prim.dot_general %0, %1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
// CHECK-LABEL: @half_of_a_kernel_twice
// CHECK-NOT: strided
func.func @half_of_a_kernel_twice(%x: tensor<4x16xf32>) -> tensor<4x4xf32> {
  %t = prim.exp %x : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %0 = prim.slice %t {starts = array<i64: 0, 0>, limits = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %1 = prim.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %r = prim.dot_general %0, %1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// The first position of each sequence, in a product that has found its bias.
// CHECK-LABEL: @first_positions
// CHECK-NEXT: %[[R:.*]] = prim.gemm %arg0, %arg1, %arg2 {{.*}}views = [memref<4x8xf32, strided<[40, 1]>>, memref<8x12xf32, strided<[12, 1]>>]} : (tensor<4x5x8xf32>, tensor<8x12xf32>, tensor<12xf32>) -> tensor<4x12xf32>
// CHECK-NEXT: return %[[R]]
func.func @first_positions(%x: tensor<4x5x8xf32>, %w: tensor<8x12xf32>, %b: tensor<12xf32>) -> tensor<4x12xf32> {
  %0 = prim.slice %x {starts = array<i64: 0, 0, 0>, limits = array<i64: 4, 1, 8>, strides = array<i64: 1, 1, 1>} : (tensor<4x5x8xf32>) -> tensor<4x1x8xf32>
  %1 = prim.reshape %0 : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
  %r = prim.gemm %1, %w, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x12xf32>, tensor<12xf32>) -> tensor<4x12xf32>
  return %r : tensor<4x12xf32>
}

// A copy that the model returns is made; the other half is too little to keep all of a product for.
// CHECK-LABEL: @copied_anyway
// CHECK-NOT: strided
func.func @copied_anyway(%x: tensor<4x16xf32>, %w: tensor<16x16xf32>) -> (tensor<4x4xf32>, tensor<8x4xf32>) {
  %t = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %0 = prim.slice %t {starts = array<i64: 0, 0>, limits = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %1 = prim.slice %t {starts = array<i64: 0, 8>, limits = array<i64: 4, 16>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %r = prim.dot_general %0, %1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %2 = prim.reshape %1 : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %r, %2 : tensor<4x4xf32>, tensor<8x4xf32>
}

// A product of views that is itself read in parts.
// CHECK-LABEL: @chained
// CHECK-NEXT: %[[T:.*]] = prim.gemm %arg0, %arg1
// CHECK-NEXT: %[[R:.*]] = prim.gemm %[[T]], %[[T]] {{.*}}views = [memref<4x8xf32, strided<[16, 1]>>, memref<4x8xf32, strided<[16, 1], offset: 8>>]
// CHECK-NEXT: return %[[R]]
func.func @chained(%x: tensor<4x32xf32>, %w: tensor<16x16xf32>) -> tensor<4x4xf32> {
  %part = prim.slice %x {starts = array<i64: 0, 16>, limits = array<i64: 4, 32>, strides = array<i64: 1, 1>} : (tensor<4x32xf32>) -> tensor<4x16xf32>
  %t = prim.dot_general %part, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
  %0 = prim.slice %t {starts = array<i64: 0, 0>, limits = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %1 = prim.slice %t {starts = array<i64: 0, 8>, limits = array<i64: 4, 16>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %r = prim.dot_general %0, %1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// Some columns of an argument are read there; some of its rows lie together, of which there is no copy anyway.
// CHECK-LABEL: @columns
// CHECK: prim.gemm %arg0, %arg1 {{.*}}views = [memref<4x8xf32, strided<[16, 1], offset: 4>>, memref<8x4xf32, strided<[4, 1]>>]}
// CHECK-LABEL: @rows
// CHECK: prim.dot_general
func.func @columns(%x: tensor<4x16xf32>, %w: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = prim.slice %x {starts = array<i64: 0, 4>, limits = array<i64: 4, 12>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %r = prim.dot_general %0, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @rows(%x: tensor<16x8xf32>, %w: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = prim.slice %x {starts = array<i64: 4, 0>, limits = array<i64: 8, 8>, strides = array<i64: 1, 1>} : (tensor<16x8xf32>) -> tensor<4x8xf32>
  %r = prim.dot_general %0, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// What was brought into another order is no place to read from: it would be a copy, too.
// CHECK-LABEL: @of_a_copy
// CHECK-NOT: strided
func.func @of_a_copy(%x: tensor<2x8x4xf32>, %w: tensor<16x4xf32>) -> tensor<2x4xf32> {
  %0 = prim.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<2x8x4xf32>) -> tensor<2x4x8xf32>
  %1 = prim.reshape %0 : (tensor<2x4x8xf32>) -> tensor<2x32xf32>
  %2 = prim.slice %1 {starts = array<i64: 0, 16>, limits = array<i64: 2, 32>, strides = array<i64: 1, 1>} : (tensor<2x32xf32>) -> tensor<2x16xf32>
  %r = prim.dot_general %2, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x16xf32>, tensor<16x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// Rows that do not begin at 16 bytes are copied for tensor cores; the other factor is read where it lies.
// CHECK-LABEL: @unaligned
// CHECK: %[[X:.*]] = prim.slice %arg0
// CHECK: prim.gemm %[[X]], %arg1 {{.*}}views = [memref<4x8xf32, strided<[8, 1]>>, memref<8x4xf32, strided<[8, 1]>>]}
func.func @unaligned(%x: tensor<4x16xf32>, %w: tensor<8x8xf32>) -> tensor<4x4xf32> {
  %0 = prim.slice %x {starts = array<i64: 0, 2>, limits = array<i64: 4, 10>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %1 = prim.slice %w {starts = array<i64: 0, 0>, limits = array<i64: 8, 4>, strides = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<8x4xf32>
  %r = prim.dot_general %0, %1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// What the product is stays said.
// CHECK-LABEL: @half
// CHECK: prim.gemm %arg0, %arg1 {full_precision, {{.*}}, wide_result} : (tensor<4x16xbf16>, tensor<8x4xbf16>) -> tensor<4x4xf32>
func.func @half(%x: tensor<4x16xbf16>, %w: tensor<8x4xbf16>) -> tensor<4x4xf32> {
  %0 = prim.slice %x {starts = array<i64: 0, 8>, limits = array<i64: 4, 16>, strides = array<i64: 1, 1>} : (tensor<4x16xbf16>) -> tensor<4x8xbf16>
  %r = prim.dot_general %0, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>, full_precision, wide_result} : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// Every second column lies nowhere together.
// CHECK-LABEL: @every_second
// CHECK-NOT: strided
func.func @every_second(%x: tensor<4x16xf32>, %w: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = prim.slice %x {starts = array<i64: 0, 0>, limits = array<i64: 4, 16>, strides = array<i64: 1, 2>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %r = prim.dot_general %0, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// Views stay what they are of.
// CPU-LABEL: @views_already
// CHECK-LABEL: @views_already
// CHECK: %[[X:.*]] = prim.slice %arg0
// CHECK: prim.gemm %[[X]], %arg1 {{.*}}views = [memref<4x4xf32, strided<[8, 1]>>, memref<4x4xf32, strided<[4, 1]>>]}
func.func @views_already(%x: tensor<4x16xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = prim.slice %x {starts = array<i64: 0, 4>, limits = array<i64: 4, 12>, strides = array<i64: 1, 1>} : (tensor<4x16xf32>) -> tensor<4x8xf32>
  %r = prim.gemm %0, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>, views = [memref<4x4xf32, strided<[8, 1]>>, memref<4x4xf32, strided<[4, 1]>>]} : (tensor<4x8xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
