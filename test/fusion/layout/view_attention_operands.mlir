// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --view-attention-operands=target=cuda --simplify | FileCheck %s
// RUN: accc-opt %s --view-attention-operands=target=cpu | FileCheck %s --check-prefix=CPU

// CPU-NOT: strided

// A product that gives q, k and v side by side, and the sums that its gradient takes, in f32 as well.
// CHECK-LABEL: @packed
// CHECK-SAME: (%[[QKV:.*]]: tensor<2x6x48xbf16>, %[[DY:.*]]: tensor<12x16xbf16>)
// CHECK: %[[Y:.*]], %[[STATS:.*]] = prim.strided_attention %[[QKV]], %[[QKV]], %[[QKV]] {causal = true, scale = 5.000000e-01 : f64,
// CHECK-SAME: views = [memref<2x6x2x8xbf16, strided<[288, 48, 8, 1]>>, memref<2x6x2x8xbf16, strided<[288, 48, 8, 1], offset: 16>>,
// CHECK-SAME: memref<2x6x2x8xbf16, strided<[288, 48, 8, 1], offset: 32>>, memref<2x6x2x8xbf16, strided<[96, 16, 8, 1]>>]}
// CHECK-SAME: -> (tensor<12x16xbf16>, tensor<2x2x6xf32>)
// CHECK-NOT: prim.slice
// CHECK: %[[D:.*]] = prim.strided_attention_backward %[[QKV]], %[[QKV]], %[[QKV]], %[[Y]], %[[STATS]], %[[DY]] {causal = true, places = array<i64: 0, 0, 0>,
// CHECK-SAME: views = [memref<2x6x2x8xbf16, strided<[288, 48, 8, 1]>>, memref<2x6x2x8xbf16, strided<[288, 48, 8, 1], offset: 16>>,
// CHECK-SAME: memref<2x6x2x8xbf16, strided<[288, 48, 8, 1], offset: 32>>, memref<2x6x2x8xbf16, strided<[96, 16, 8, 1]>>, memref<2x6x2x8xbf16, strided<[96, 16, 8, 1]>>,
// CHECK-SAME: memref<2x6x2x8xbf16, strided<[288, 48, 8, 1]>>, memref<2x6x2x8xbf16, strided<[288, 48, 8, 1], offset: 16>>, memref<2x6x2x8xbf16, strided<[288, 48, 8, 1], offset: 32>>]}
// CHECK-SAME: -> tensor<2x6x48xbf16>
// CHECK: %[[WIDE:.*]] = prim.convert %[[D]] : (tensor<2x6x48xbf16>) -> tensor<2x6x48xf32>
// CHECK: %[[SUM:.*]] = prim.reduce sum %[[WIDE]]
// CHECK: return %[[Y]], %[[D]], %[[SUM]]
func.func @packed(%qkv: tensor<2x6x48xbf16>, %dy: tensor<12x16xbf16>) -> (tensor<12x16xbf16>, tensor<2x6x48xbf16>, tensor<48xf32>) {
  %0 = prim.slice %qkv {starts = array<i64: 0, 0, 0>, limits = array<i64: 2, 6, 16>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x48xbf16>) -> tensor<2x6x16xbf16>
  %1 = prim.slice %qkv {starts = array<i64: 0, 0, 16>, limits = array<i64: 2, 6, 32>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x48xbf16>) -> tensor<2x6x16xbf16>
  %2 = prim.slice %qkv {starts = array<i64: 0, 0, 32>, limits = array<i64: 2, 6, 48>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x48xbf16>) -> tensor<2x6x16xbf16>
  %q = prim.reshape %0 : (tensor<2x6x16xbf16>) -> tensor<2x6x2x8xbf16>
  %k = prim.reshape %1 : (tensor<2x6x16xbf16>) -> tensor<2x6x2x8xbf16>
  %v = prim.reshape %2 : (tensor<2x6x16xbf16>) -> tensor<2x6x2x8xbf16>
  %y, %stats = prim.attention %q, %k, %v {causal = true, scale = 0.5 : f64} : (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>) -> (tensor<2x6x2x8xbf16>, tensor<2x2x6xf32>)
  %rows = prim.reshape %y : (tensor<2x6x2x8xbf16>) -> tensor<12x16xbf16>
  %dheads = prim.reshape %dy : (tensor<12x16xbf16>) -> tensor<2x6x2x8xbf16>
  %dq, %dk, %dv = prim.attention_backward %q, %k, %v, %y, %stats, %dheads {causal = true, scale = 0.5 : f64} : (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x2x6xf32>, tensor<2x6x2x8xbf16>) -> (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>)
  %wq = prim.convert %dq : (tensor<2x6x2x8xbf16>) -> tensor<2x6x2x8xf32>
  %wk = prim.convert %dk : (tensor<2x6x2x8xbf16>) -> tensor<2x6x2x8xf32>
  %wv = prim.convert %dv : (tensor<2x6x2x8xbf16>) -> tensor<2x6x2x8xf32>
  %3 = prim.reshape %wv : (tensor<2x6x2x8xf32>) -> tensor<2x6x16xf32>
  %4 = prim.reshape %wq : (tensor<2x6x2x8xf32>) -> tensor<2x6x16xf32>
  %5 = prim.reshape %wk : (tensor<2x6x2x8xf32>) -> tensor<2x6x16xf32>
  %6 = prim.concatenate %4, %5, %3 {dimension = 2 : i64} : (tensor<2x6x16xf32>, tensor<2x6x16xf32>, tensor<2x6x16xf32>) -> tensor<2x6x48xf32>
  %7 = prim.convert %6 : (tensor<2x6x48xf32>) -> tensor<2x6x48xbf16>
  %8 = prim.convert %7 : (tensor<2x6x48xbf16>) -> tensor<2x6x48xf32>
  %9 = prim.reduce sum %8 {dimensions = array<i64: 0, 1>} : (tensor<2x6x48xf32>) -> tensor<48xf32>
  return %rows, %7, %9 : tensor<12x16xbf16>, tensor<2x6x48xbf16>, tensor<48xf32>
}

// Each head's q, k and v side by side; the gradients stacked before they are brought there.
// CHECK-LABEL: @interleaved
// CHECK: prim.strided_attention_backward {{.*}}places = array<i64: 0, 0, 0>,
// CHECK-SAME: memref<2x6x2x8xbf16, strided<[288, 48, 24, 1], offset: 8>>
// CHECK-SAME: memref<2x6x2x8xbf16, strided<[288, 48, 24, 1]>>, memref<2x6x2x8xbf16, strided<[288, 48, 24, 1], offset: 8>>, memref<2x6x2x8xbf16, strided<[288, 48, 24, 1], offset: 16>>]}
// CHECK-SAME: -> tensor<2x6x2x3x8xbf16>
// CHECK-NOT: prim.transpose
func.func @interleaved(%qkv: tensor<2x6x2x3x8xbf16>, %y: tensor<2x6x2x8xbf16>, %stats: tensor<2x2x6xf32>, %dy: tensor<2x6x2x8xbf16>) -> tensor<2x6x2x3x8xbf16> {
  %0 = prim.transpose %qkv {permutation = array<i64: 3, 0, 1, 2, 4>} : (tensor<2x6x2x3x8xbf16>) -> tensor<3x2x6x2x8xbf16>
  %1 = prim.slice %0 {starts = array<i64: 0, 0, 0, 0, 0>, limits = array<i64: 1, 2, 6, 2, 8>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x2x6x2x8xbf16>) -> tensor<1x2x6x2x8xbf16>
  %2 = prim.slice %0 {starts = array<i64: 1, 0, 0, 0, 0>, limits = array<i64: 2, 2, 6, 2, 8>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x2x6x2x8xbf16>) -> tensor<1x2x6x2x8xbf16>
  %3 = prim.slice %0 {starts = array<i64: 2, 0, 0, 0, 0>, limits = array<i64: 3, 2, 6, 2, 8>, strides = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x2x6x2x8xbf16>) -> tensor<1x2x6x2x8xbf16>
  %q = prim.reshape %1 : (tensor<1x2x6x2x8xbf16>) -> tensor<2x6x2x8xbf16>
  %k = prim.reshape %2 : (tensor<1x2x6x2x8xbf16>) -> tensor<2x6x2x8xbf16>
  %v = prim.reshape %3 : (tensor<1x2x6x2x8xbf16>) -> tensor<2x6x2x8xbf16>
  %dq, %dk, %dv = prim.attention_backward %q, %k, %v, %y, %stats, %dy {causal = false, scale = 0.5 : f64} : (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x2x6xf32>, tensor<2x6x2x8xbf16>) -> (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>)
  %4 = prim.reshape %dq : (tensor<2x6x2x8xbf16>) -> tensor<1x2x6x2x8xbf16>
  %5 = prim.reshape %dk : (tensor<2x6x2x8xbf16>) -> tensor<1x2x6x2x8xbf16>
  %6 = prim.reshape %dv : (tensor<2x6x2x8xbf16>) -> tensor<1x2x6x2x8xbf16>
  %7 = prim.concatenate %4, %5, %6 {dimension = 0 : i64} : (tensor<1x2x6x2x8xbf16>, tensor<1x2x6x2x8xbf16>, tensor<1x2x6x2x8xbf16>) -> tensor<3x2x6x2x8xbf16>
  %8 = prim.transpose %7 {permutation = array<i64: 1, 2, 3, 0, 4>} : (tensor<3x2x6x2x8xbf16>) -> tensor<2x6x2x3x8xbf16>
  return %8 : tensor<2x6x2x3x8xbf16>
}

// Positions before the batch, in keys and values that are of one product, and in what comes of them.
// CHECK-LABEL: @positions_first
// CHECK-SAME: (%[[Q:.*]]: tensor<5x2x16xbf16>, %[[KV:.*]]: tensor<6x2x32xbf16>, %[[DY:.*]]: tensor<5x2x16xbf16>)
// CHECK: %[[Y:.*]], %[[STATS:.*]] = prim.strided_attention %[[Q]], %[[KV]], %[[KV]] {{.*}}views = [memref<2x5x2x8xbf16, strided<[16, 32, 8, 1]>>,
// CHECK-SAME: memref<2x6x2x8xbf16, strided<[32, 64, 8, 1]>>, memref<2x6x2x8xbf16, strided<[32, 64, 8, 1], offset: 16>>, memref<2x5x2x8xbf16, strided<[16, 32, 8, 1]>>]}
// CHECK-SAME: -> (tensor<5x2x16xbf16>, tensor<2x2x5xf32>)
// CHECK: %[[D:.*]]:2 = prim.strided_attention_backward %[[Q]], %[[KV]], %[[KV]], %[[Y]], %[[STATS]], %[[DY]] {{.*}}places = array<i64: 0, 1, 1>,
// CHECK-SAME: memref<2x5x2x8xbf16, strided<[16, 32, 8, 1]>>, memref<2x5x2x8xbf16, strided<[16, 32, 8, 1]>>,
// CHECK-SAME: memref<2x5x2x8xbf16, strided<[16, 32, 8, 1]>>, memref<2x6x2x8xbf16, strided<[32, 64, 8, 1]>>, memref<2x6x2x8xbf16, strided<[32, 64, 8, 1], offset: 16>>]}
// CHECK-SAME: -> (tensor<5x2x16xbf16>, tensor<6x2x32xbf16>)
// CHECK: return %[[Y]], %[[D]]#0, %[[D]]#1
func.func @positions_first(%x: tensor<5x2x16xbf16>, %kv: tensor<6x2x32xbf16>, %dy: tensor<5x2x16xbf16>) -> (tensor<5x2x16xbf16>, tensor<5x2x16xbf16>, tensor<6x2x32xbf16>) {
  %0 = prim.reshape %x : (tensor<5x2x16xbf16>) -> tensor<5x2x2x8xbf16>
  %q = prim.transpose %0 {permutation = array<i64: 1, 0, 2, 3>} : (tensor<5x2x2x8xbf16>) -> tensor<2x5x2x8xbf16>
  %1 = prim.slice %kv {starts = array<i64: 0, 0, 0>, limits = array<i64: 6, 2, 16>, strides = array<i64: 1, 1, 1>} : (tensor<6x2x32xbf16>) -> tensor<6x2x16xbf16>
  %2 = prim.slice %kv {starts = array<i64: 0, 0, 16>, limits = array<i64: 6, 2, 32>, strides = array<i64: 1, 1, 1>} : (tensor<6x2x32xbf16>) -> tensor<6x2x16xbf16>
  %3 = prim.reshape %1 : (tensor<6x2x16xbf16>) -> tensor<6x2x2x8xbf16>
  %k = prim.transpose %3 {permutation = array<i64: 1, 0, 2, 3>} : (tensor<6x2x2x8xbf16>) -> tensor<2x6x2x8xbf16>
  %4 = prim.reshape %2 : (tensor<6x2x16xbf16>) -> tensor<6x2x2x8xbf16>
  %v = prim.transpose %4 {permutation = array<i64: 1, 0, 2, 3>} : (tensor<6x2x2x8xbf16>) -> tensor<2x6x2x8xbf16>
  %y, %stats = prim.attention %q, %k, %v {causal = false, scale = 0.5 : f64} : (tensor<2x5x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>) -> (tensor<2x5x2x8xbf16>, tensor<2x2x5xf32>)
  %5 = prim.transpose %y {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x5x2x8xbf16>) -> tensor<5x2x2x8xbf16>
  %6 = prim.reshape %5 : (tensor<5x2x2x8xbf16>) -> tensor<5x2x16xbf16>
  %7 = prim.reshape %dy : (tensor<5x2x16xbf16>) -> tensor<5x2x2x8xbf16>
  %8 = prim.transpose %7 {permutation = array<i64: 1, 0, 2, 3>} : (tensor<5x2x2x8xbf16>) -> tensor<2x5x2x8xbf16>
  %dq, %dk, %dv = prim.attention_backward %q, %k, %v, %y, %stats, %8 {causal = false, scale = 0.5 : f64} : (tensor<2x5x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x5x2x8xbf16>, tensor<2x2x5xf32>, tensor<2x5x2x8xbf16>) -> (tensor<2x5x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>)
  %9 = prim.transpose %dq {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x5x2x8xbf16>) -> tensor<5x2x2x8xbf16>
  %10 = prim.reshape %9 : (tensor<5x2x2x8xbf16>) -> tensor<5x2x16xbf16>
  %11 = prim.transpose %dk {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x6x2x8xbf16>) -> tensor<6x2x2x8xbf16>
  %12 = prim.transpose %dv {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x6x2x8xbf16>) -> tensor<6x2x2x8xbf16>
  %13 = prim.reshape %11 : (tensor<6x2x2x8xbf16>) -> tensor<6x2x16xbf16>
  %14 = prim.reshape %12 : (tensor<6x2x2x8xbf16>) -> tensor<6x2x16xbf16>
  %15 = prim.concatenate %13, %14 {dimension = 2 : i64} : (tensor<6x2x16xbf16>, tensor<6x2x16xbf16>) -> tensor<6x2x32xbf16>
  return %6, %10, %15 : tensor<5x2x16xbf16>, tensor<5x2x16xbf16>, tensor<6x2x32xbf16>
}

// What has other parts would be kept for this one; rows of which not all are aligned are copied; and
// a result that others read as it is stays what it is.
// CHECK-LABEL: @copied
// CHECK-NOT: strided
func.func @copied(%part: tensor<2x6x32xbf16>, %odd: tensor<2x6x52xbf16>, %q: tensor<2x6x2x8xbf16>) -> (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<6x2x2x8xbf16>) {
  %0 = prim.slice %part {starts = array<i64: 0, 0, 16>, limits = array<i64: 2, 6, 32>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x32xbf16>) -> tensor<2x6x16xbf16>
  %v = prim.reshape %0 : (tensor<2x6x16xbf16>) -> tensor<2x6x2x8xbf16>
  %y, %stats = prim.attention %q, %q, %v {causal = false, scale = 0.5 : f64} : (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>) -> (tensor<2x6x2x8xbf16>, tensor<2x2x6xf32>)
  %1 = prim.slice %odd {starts = array<i64: 0, 0, 0>, limits = array<i64: 2, 6, 16>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x52xbf16>) -> tensor<2x6x16xbf16>
  %2 = prim.slice %odd {starts = array<i64: 0, 0, 20>, limits = array<i64: 2, 6, 52>, strides = array<i64: 1, 1, 1>} : (tensor<2x6x52xbf16>) -> tensor<2x6x32xbf16>
  %3 = prim.reshape %1 : (tensor<2x6x16xbf16>) -> tensor<2x6x2x8xbf16>
  %4 = prim.reshape %2 : (tensor<2x6x32xbf16>) -> tensor<2x6x2x16xbf16>
  %5, %6 = prim.attention %3, %3, %4 {causal = false, scale = 0.5 : f64} : (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x16xbf16>) -> (tensor<2x6x2x16xbf16>, tensor<2x2x6xf32>)
  %7 = prim.slice %5 {starts = array<i64: 0, 0, 0, 0>, limits = array<i64: 2, 6, 2, 8>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x6x2x16xbf16>) -> tensor<2x6x2x8xbf16>
  %8 = prim.transpose %y {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x6x2x8xbf16>) -> tensor<6x2x2x8xbf16>
  return %y, %7, %8 : tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<6x2x2x8xbf16>
}

// A concatenation that has something else, too, and values in between that others read.
// CHECK-LABEL: @made_of_others
// CHECK: prim.strided_attention_backward {{.*}}places = array<i64: 0, 1, 2>,
// CHECK-SAME: -> (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<6x2x2x8xbf16>)
// CHECK: prim.concatenate
func.func @made_of_others(%q: tensor<2x6x2x8xbf16>, %y: tensor<2x6x2x8xbf16>, %stats: tensor<2x2x6xf32>, %dy: tensor<2x6x2x8xbf16>, %other: tensor<2x6x2x8xbf16>) -> (tensor<2x6x2x24xbf16>, tensor<6x2x2x8xbf16>, tensor<6x2x16xbf16>) {
  %dq, %dk, %dv = prim.attention_backward %q, %q, %q, %y, %stats, %dy {causal = false, scale = 0.5 : f64} : (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x2x6xf32>, tensor<2x6x2x8xbf16>) -> (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>)
  %0 = prim.concatenate %dq, %other, %dk {dimension = 3 : i64} : (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>) -> tensor<2x6x2x24xbf16>
  %1 = prim.transpose %dv {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x6x2x8xbf16>) -> tensor<6x2x2x8xbf16>
  %2 = prim.reshape %1 : (tensor<6x2x2x8xbf16>) -> tensor<6x2x16xbf16>
  return %0, %1, %2 : tensor<2x6x2x24xbf16>, tensor<6x2x2x8xbf16>, tensor<6x2x16xbf16>
}

// What comes of a result behind its transpose is read by another attention's gradient as it is.
// CHECK-LABEL: @read_by_another
// CHECK: %[[ROWS:.*]], %{{.*}} = prim.strided_attention {{.*}} -> (tensor<6x32xbf16>, tensor<2x2x6xf32>)
// CHECK: %[[Y:.*]] = prim.reshape %[[ROWS]] : (tensor<6x32xbf16>) -> tensor<6x2x2x8xbf16>
// CHECK: prim.attention_backward %[[Y]], %[[Y]], %[[Y]]
// CHECK: return %[[ROWS]]
func.func @read_by_another(%q: tensor<2x6x2x8xbf16>, %y: tensor<6x2x2x8xbf16>, %stats: tensor<6x2x2xf32>) -> (tensor<6x32xbf16>, tensor<6x2x2x8xbf16>) {
  %0, %1 = prim.attention %q, %q, %q {causal = false, scale = 0.5 : f64} : (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>) -> (tensor<2x6x2x8xbf16>, tensor<2x2x6xf32>)
  %2 = prim.transpose %0 {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x6x2x8xbf16>) -> tensor<6x2x2x8xbf16>
  %3 = prim.reshape %2 : (tensor<6x2x2x8xbf16>) -> tensor<6x32xbf16>
  %dq, %dk, %dv = prim.attention_backward %2, %2, %2, %y, %stats, %y {causal = false, scale = 0.5 : f64} : (tensor<6x2x2x8xbf16>, tensor<6x2x2x8xbf16>, tensor<6x2x2x8xbf16>, tensor<6x2x2x8xbf16>, tensor<6x2x2xf32>, tensor<6x2x2x8xbf16>) -> (tensor<6x2x2x8xbf16>, tensor<6x2x2x8xbf16>, tensor<6x2x2x8xbf16>)
  return %3, %dq : tensor<6x32xbf16>, tensor<6x2x2x8xbf16>
}

// Gradients with the heads first, stacked, of which a bias takes the sum before they are brought where q, k and v lie:
// it reads them there.
// CHECK-LABEL: @summed_before
// CHECK: %[[D:.*]] = prim.strided_attention_backward {{.*}}places = array<i64: 0, 0, 0>,
// CHECK-SAME: memref<2x6x2x8xbf16, strided<[288, 48, 8, 1]>>, memref<2x6x2x8xbf16, strided<[288, 48, 8, 1], offset: 16>>, memref<2x6x2x8xbf16, strided<[288, 48, 8, 1], offset: 32>>]}
// CHECK-SAME: -> tensor<12x48xbf16>
// CHECK: %[[PARTS:.*]] = prim.reshape %[[D]] : (tensor<12x48xbf16>) -> tensor<2x6x3x2x8xbf16>
// CHECK: %[[STACKED:.*]] = prim.transpose %[[PARTS]] {permutation = array<i64: 2, 0, 3, 1, 4>}
// CHECK: %[[WIDE:.*]] = prim.convert %[[STACKED]]
// CHECK: %[[SUM:.*]] = prim.reduce sum %[[WIDE]] {dimensions = array<i64: 1, 3>}
// CHECK: return %[[D]], %[[SUM]]
func.func @summed_before(%q: tensor<2x6x2x8xbf16>, %y: tensor<2x6x2x8xbf16>, %stats: tensor<2x2x6xf32>, %dy: tensor<2x6x2x8xbf16>) -> (tensor<12x48xbf16>, tensor<3x2x8xf32>) {
  %dq, %dk, %dv = prim.attention_backward %q, %q, %q, %y, %stats, %dy {causal = false, scale = 0.5 : f64} : (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x2x6xf32>, tensor<2x6x2x8xbf16>) -> (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>)
  %0 = prim.transpose %dq {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x2x8xbf16>) -> tensor<2x2x6x8xbf16>
  %1 = prim.transpose %dk {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x2x8xbf16>) -> tensor<2x2x6x8xbf16>
  %2 = prim.transpose %dv {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x2x8xbf16>) -> tensor<2x2x6x8xbf16>
  %3 = prim.reshape %0 : (tensor<2x2x6x8xbf16>) -> tensor<1x2x2x6x8xbf16>
  %4 = prim.reshape %1 : (tensor<2x2x6x8xbf16>) -> tensor<1x2x2x6x8xbf16>
  %5 = prim.reshape %2 : (tensor<2x2x6x8xbf16>) -> tensor<1x2x2x6x8xbf16>
  %6 = prim.concatenate %3, %4, %5 {dimension = 0 : i64} : (tensor<1x2x2x6x8xbf16>, tensor<1x2x2x6x8xbf16>, tensor<1x2x2x6x8xbf16>) -> tensor<3x2x2x6x8xbf16>
  %7 = prim.convert %6 : (tensor<3x2x2x6x8xbf16>) -> tensor<3x2x2x6x8xf32>
  %8 = prim.reduce sum %7 {dimensions = array<i64: 1, 3>} : (tensor<3x2x2x6x8xf32>) -> tensor<3x2x8xf32>
  %9 = prim.transpose %6 {permutation = array<i64: 1, 3, 0, 2, 4>} : (tensor<3x2x2x6x8xbf16>) -> tensor<2x6x3x2x8xbf16>
  %10 = prim.reshape %9 : (tensor<2x6x3x2x8xbf16>) -> tensor<12x48xbf16>
  return %10, %8 : tensor<12x48xbf16>, tensor<3x2x8xf32>
}

// One gradient of which a sum reads the transpose, and one of which something else reads the f32 as well.
// CHECK-LABEL: @summed_between
// CHECK: %[[D:.*]]:3 = prim.strided_attention_backward {{.*}}-> (tensor<12x16xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>)
// CHECK: %[[ROWS:.*]] = prim.reshape %[[D]]#0
// CHECK: %[[WIDE:.*]] = prim.convert %[[ROWS]]
// CHECK: prim.reduce sum %[[WIDE]]
// CHECK: prim.transpose %[[D]]#1
func.func @summed_between(%q: tensor<2x6x2x8xbf16>, %y: tensor<2x6x2x8xbf16>, %stats: tensor<2x2x6xf32>, %dy: tensor<2x6x2x8xbf16>) -> (tensor<12x16xbf16>, tensor<2x8xf32>, tensor<6x2x2x8xbf16>, tensor<2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xbf16>) {
  %dq, %dk, %dv = prim.attention_backward %q, %q, %q, %y, %stats, %dy {causal = false, scale = 0.5 : f64} : (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x2x6xf32>, tensor<2x6x2x8xbf16>) -> (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>)
  %0 = prim.transpose %dq {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x6x2x8xbf16>) -> tensor<6x2x2x8xbf16>
  %1 = prim.convert %0 : (tensor<6x2x2x8xbf16>) -> tensor<6x2x2x8xf32>
  %2 = prim.reduce sum %1 {dimensions = array<i64: 0, 1>} : (tensor<6x2x2x8xf32>) -> tensor<2x8xf32>
  %3 = prim.reshape %0 : (tensor<6x2x2x8xbf16>) -> tensor<12x16xbf16>
  %4 = prim.transpose %dk {permutation = array<i64: 1, 0, 2, 3>} : (tensor<2x6x2x8xbf16>) -> tensor<6x2x2x8xbf16>
  %5 = prim.convert %dk : (tensor<2x6x2x8xbf16>) -> tensor<2x6x2x8xf32>
  %6 = prim.reduce sum %5 {dimensions = array<i64: 0, 1>} : (tensor<2x6x2x8xf32>) -> tensor<2x8xf32>
  return %3, %2, %4, %6, %5, %dv : tensor<12x16xbf16>, tensor<2x8xf32>, tensor<6x2x2x8xbf16>, tensor<2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xbf16>
}

// A sum of one part of a concatenation reads that part: it is not written into the whole.
// CHECK-LABEL: @summed_part
// CHECK: prim.strided_attention_backward {{.*}}places = array<i64: 0, 1, 2>,
// CHECK-SAME: -> (tensor<2x2x6x8xbf16>, tensor<2x2x6x8xbf16>, tensor<2x2x6x8xbf16>)
// CHECK-NOT: prim.attention_backward
// CHECK: prim.concatenate
func.func @summed_part(%q: tensor<2x6x2x8xbf16>, %y: tensor<2x6x2x8xbf16>, %stats: tensor<2x2x6xf32>, %dy: tensor<2x6x2x8xbf16>) -> (tensor<2x6x6x8xbf16>, tensor<2x8xbf16>) {
  %dq, %dk, %dv = prim.attention_backward %q, %q, %q, %y, %stats, %dy {causal = false, scale = 0.5 : f64} : (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x2x6xf32>, tensor<2x6x2x8xbf16>) -> (tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>)
  %0 = prim.transpose %dq {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x2x8xbf16>) -> tensor<2x2x6x8xbf16>
  %1 = prim.transpose %dk {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x2x8xbf16>) -> tensor<2x2x6x8xbf16>
  %2 = prim.transpose %dv {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x6x2x8xbf16>) -> tensor<2x2x6x8xbf16>
  %3 = prim.reduce sum %1 {dimensions = array<i64: 0, 2>} : (tensor<2x2x6x8xbf16>) -> tensor<2x8xbf16>
  %4 = prim.concatenate %0, %1, %2 {dimension = 1 : i64} : (tensor<2x2x6x8xbf16>, tensor<2x2x6x8xbf16>, tensor<2x2x6x8xbf16>) -> tensor<2x6x6x8xbf16>
  return %4, %3 : tensor<2x6x6x8xbf16>, tensor<2x8xbf16>
}
