// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --compute-in-chunks="least-bytes=1024 chunk-bytes=8192 always" | FileCheck %s
// RUN: accc-opt %s --compute-in-chunks="least-bytes=1024 chunk-bytes=8192 always" --form-fusions | FileCheck %s --check-prefix=KERNELS
// RUN: accc-opt %s --compute-in-chunks="target=cuda least-bytes=1024 chunk-bytes=8192" | FileCheck %s --check-prefix=COSTS

// The weights of an attention, 64 x 64, are never whole: two chunks of 32 rows. The maxima, which the second pass
// needs, are kept; what is computed with them is computed again. dk and dv are sums over the chunks.

// CHECK-LABEL: func.func @attention
// CHECK-NOT: tensor<64x64xf32>
// CHECK: prim.slice %arg0 {accc.chunk = 0 : i64, {{.*}}limits = array<i64: 32, 4>
// CHECK: prim.dot_general {{.*}}accc.chunk = 0 {{.*}} -> tensor<32x64xf32>
// CHECK: %[[MAX0:.*]] = prim.reduce {{ *}}max {{.*}}accc.chunk = 0
// CHECK: prim.dot_general {{.*}}accc.chunk = 0 {{.*}} -> tensor<32x4xf32>
// CHECK: %[[MAX1:.*]] = prim.reduce {{ *}}max {{.*}}accc.chunk = 1
// CHECK: %[[Y:.*]] = prim.concatenate {{.*}} -> tensor<64x4xf32>
// CHECK: %[[DY:.*]] = prim.dot_general %[[Y]]
// CHECK: prim.broadcast %[[MAX0]] {accc.chunk = 2
// CHECK: prim.slice %[[DY]] {accc.chunk = 2
// CHECK: %[[DK0:.*]] = prim.dot_general {{.*}}accc.chunk = 2 {{.*}} -> tensor<64x4xf32>
// CHECK: %[[DK1:.*]] = prim.dot_general {{.*}}accc.chunk = 3 {{.*}} -> tensor<64x4xf32>
// CHECK: prim.add %[[DK0]], %[[DK1]] {accc.chunk = 3
// CHECK: return

// Chunks are computed one after the other, and are no longer told apart then.
// KERNELS-LABEL: func.func @attention
// KERNELS-NOT: accc.chunk
// KERNELS: prim.dot_general {{.*}} -> tensor<32x64xf32>
// KERNELS: prim.fusion
// KERNELS: prim.dot_general {{.*}} -> tensor<32x4xf32>
// KERNELS: prim.dot_general {{.*}} -> tensor<32x64xf32>
// KERNELS: prim.fusion
// KERNELS: prim.dot_general {{.*}} -> tensor<32x4xf32>

// On a GPU launches for chunks so small cost more than tensors so small.
// COSTS-LABEL: func.func @attention
// COSTS-NOT: accc.chunk
// COSTS-LABEL: func.func @masked
func.func @attention(%q: tensor<64x4xf32>, %k: tensor<64x4xf32>, %v: tensor<64x4xf32>, %w: tensor<4x4xf32>)
    -> (tensor<64x4xf32>, tensor<64x4xf32>, tensor<64x4xf32>) {
  %s = prim.dot_general %q, %k {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<64x64xf32>
  %max = prim.reduce max %s {dimensions = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %maxima = prim.broadcast %max {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x64xf32>
  %below = prim.sub %s, %maxima : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = prim.exp %below : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = prim.dot_general %p, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  %dy = prim.dot_general %y, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
  %dp = prim.dot_general %dy, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<64x64xf32>
  %ds = prim.mul %dp, %p : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %dk = prim.dot_general %ds, %q {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  %dv = prim.dot_general %p, %dy {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  return %y, %dk, %dv : tensor<64x4xf32>, tensor<64x4xf32>, tensor<64x4xf32>
}

// A dimension behind others: what is read of it lies chunk behind chunk. A causal mask and random numbers are
// computed in every chunk, from the place of its elements in the whole.
// CHECK-LABEL: func.func @masked
// CHECK: %[[STACK:.*]] = prim.transpose {{.*}} -> tensor<3x2x16x8xf32>
// CHECK: prim.slice %[[STACK]] {accc.chunk = 0
// CHECK: %[[WHOLE:.*]] = prim.iota {accc.chunk = 0
// CHECK: prim.slice %[[WHOLE]] {accc.chunk = 0 : i64, {{.*}}starts = array<i64: 0, 0>
// CHECK: prim.random_bits {{.*}}accc.chunk = 1
// CHECK: prim.concatenate {{.*}}dimension = 1{{.*}} -> tensor<2x48x8xf32>
func.func @masked(%q: tensor<2x48x8xf32>, %k: tensor<2x48x8xf32>, %key: tensor<2xi64>) -> tensor<2x48x8xf32> {
  %s = prim.dot_general %q, %k {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 2>} : (tensor<2x48x8xf32>, tensor<2x48x8xf32>) -> tensor<2x48x48xf32>
  %row = prim.iota {dimension = 0 : i64} : () -> tensor<48x48xi32>
  %column = prim.iota {dimension = 1 : i64} : () -> tensor<48x48xi32>
  %seen = prim.compare ge %row, %column : (tensor<48x48xi32>, tensor<48x48xi32>) -> tensor<48x48xi1>
  %mask = prim.broadcast %seen {dimensions = array<i64: 1, 2>} : (tensor<48x48xi1>) -> tensor<2x48x48xi1>
  %bits = prim.random_bits %key {stream = 3 : i64} : (tensor<2xi64>) -> tensor<2x48x48xui32>
  %half = prim.constant dense<2147483648> : tensor<2x48x48xui32>
  %drawn = prim.compare lt %bits, %half : (tensor<2x48x48xui32>, tensor<2x48x48xui32>) -> tensor<2x48x48xi1>
  %both = prim.and %mask, %drawn : (tensor<2x48x48xi1>, tensor<2x48x48xi1>) -> tensor<2x48x48xi1>
  %zero = prim.constant dense<0.0> : tensor<2x48x48xf32>
  %p = prim.select %both, %s, %zero : (tensor<2x48x48xi1>, tensor<2x48x48xf32>, tensor<2x48x48xf32>) -> tensor<2x48x48xf32>
  %y = prim.dot_general %p, %k {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<2x48x48xf32>, tensor<2x48x8xf32>) -> tensor<2x48x8xf32>
  return %y : tensor<2x48x8xf32>
}

// 67 rows in chunks of 23, 23 and 21. The rows' own numbers are gathered, others stay whole; a sum over all rows is
// there only after the last chunk, so that what reads it is another pass.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: accc.chunk = {{[3-5]}}
// CHECK: prim.gather {{.*}}accc.chunk = 0{{.*}} -> tensor<23x64xf32>
// CHECK: prim.gather {{.*}}accc.chunk = 2{{.*}} -> tensor<21x64xf32>
// CHECK: %[[SUM:.*]] = prim.add {{.*}}accc.chunk = 2{{.*}} -> tensor<64xf32>
// CHECK: prim.broadcast %[[SUM]]
// CHECK: accc.chunk = 3
func.func @rows(%x: tensor<67x3xf32>, %w: tensor<3x64xf32>, %table: tensor<2x64xf32>, %i: tensor<67xi32>) -> (tensor<67x3xf32>, tensor<67xf32>) {
  %h = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<67x3xf32>, tensor<3x64xf32>) -> tensor<67x64xf32>
  %g = prim.gather %table, %i {axis = 0 : i64} : (tensor<2x64xf32>, tensor<67xi32>) -> tensor<67x64xf32>
  %sum = prim.add %h, %g : (tensor<67x64xf32>, tensor<67x64xf32>) -> tensor<67x64xf32>
  %total = prim.reduce sum %sum {dimensions = array<i64: 0>} : (tensor<67x64xf32>) -> tensor<64xf32>
  %totals = prim.broadcast %total {dimensions = array<i64: 1>} : (tensor<64xf32>) -> tensor<67x64xf32>
  %n = prim.mul %sum, %totals : (tensor<67x64xf32>, tensor<67x64xf32>) -> tensor<67x64xf32>
  %y = prim.dot_general %n, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<67x64xf32>, tensor<3x64xf32>) -> tensor<67x3xf32>
  %most = prim.reduce max %n {dimensions = array<i64: 1>} : (tensor<67x64xf32>) -> tensor<67xf32>
  return %y, %most : tensor<67x3xf32>, tensor<67xf32>
}

// Columns, since a maximum of all rows is none of parts: of a bias, of what is gathered in rows, and of what a reduction
// of the rows before them leaves.
// CHECK-LABEL: func.func @columns
// CHECK: prim.slice %arg2 {accc.chunk = 0{{.*}} -> tensor<32xf32>
// CHECK: prim.gemm {{.*}}accc.chunk = 0{{.*}} -> tensor<64x32xf32>
// CHECK: prim.gather {{.*}}accc.chunk = 0{{.*}}(tensor<5x32xf32>, tensor<8x8xi32>) -> tensor<8x8x32xf32>
// CHECK: prim.reduce {{ *}}max {{.*}}accc.chunk = 0{{.*}} -> tensor<32xf32>
// CHECK: prim.add {{.*}}accc.chunk = 1{{.*}} -> tensor<64x4xf32>
func.func @columns(%x: tensor<64x4xf32>, %w: tensor<4x64xf32>, %b: tensor<64xf32>, %table: tensor<5x64xf32>, %i: tensor<8x8xi32>) -> tensor<64x4xf32> {
  %h = prim.gemm %x, %w, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<64x4xf32>, tensor<4x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  %g = prim.gather %table, %i {axis = 0 : i64} : (tensor<5x64xf32>, tensor<8x8xi32>) -> tensor<8x8x64xf32>
  %r = prim.reshape %g : (tensor<8x8x64xf32>) -> tensor<64x64xf32>
  %s = prim.add %h, %r : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %max = prim.reduce max %s {dimensions = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %maxima = prim.broadcast %max {dimensions = array<i64: 1>} : (tensor<64xf32>) -> tensor<64x64xf32>
  %n = prim.sub %s, %maxima : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = prim.dot_general %n, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<64x64xf32>, tensor<4x64xf32>) -> tensor<64x4xf32>
  return %y : tensor<64x4xf32>
}

// A chunk of rows is no chunk of what joins them: columns.
// CHECK-LABEL: func.func @joined
// CHECK: prim.concatenate {{.*}}accc.chunk = 0{{.*}} -> tensor<128x32xf32>
// CHECK: prim.concatenate {{.*}}accc.chunk = 1{{.*}} -> tensor<128x32xf32>
func.func @joined(%x: tensor<64x4xf32>, %w: tensor<4x64xf32>) -> tensor<128xf32> {
  %s = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<64x4xf32>, tensor<4x64xf32>) -> tensor<64x64xf32>
  %n = prim.neg %s : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = prim.concatenate %n, %s {dimension = 0 : i64} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<128x64xf32>
  %r = prim.reduce max %c {dimensions = array<i64: 1>} : (tensor<128x64xf32>) -> tensor<128xf32>
  return %r : tensor<128xf32>
}

// Sums of 16 bits lose by parts, and a maximum of a row needs all of it.
// CHECK-LABEL: func.func @halves
// CHECK-NOT: accc.chunk
// CHECK: return
func.func @halves(%x: tensor<128x4xf16>, %w: tensor<4x64xf16>) -> (tensor<128xf16>, tensor<64x4xf16>) {
  %s = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<128x4xf16>, tensor<4x64xf16>) -> tensor<128x64xf16>
  %m = prim.reduce max %s {dimensions = array<i64: 1>} : (tensor<128x64xf16>) -> tensor<128xf16>
  %y = prim.dot_general %s, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_contracting = array<i64: 0>} : (tensor<128x64xf16>, tensor<128x4xf16>) -> tensor<64x4xf16>
  return %m, %y : tensor<128xf16>, tensor<64x4xf16>
}

// All products of two rows need one of them whole.
// CHECK-LABEL: func.func @rows_with_rows
// CHECK-NOT: accc.chunk
// CHECK: return
func.func @rows_with_rows(%x: tensor<64x4xf32>, %w: tensor<4x64xf32>) -> (tensor<64xf32>, tensor<64x64xf32>) {
  %s = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<64x4xf32>, tensor<4x64xf32>) -> tensor<64x64xf32>
  %m = prim.reduce max %s {dimensions = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %y = prim.dot_general %s, %s {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m, %y : tensor<64xf32>, tensor<64x64xf32>
}

// Every element of a running maximum needs those before it: columns.
// CHECK-LABEL: func.func @running
// CHECK: prim.cumulative {{ *}}max {{.*}}accc.chunk = 0{{.*}} -> tensor<64x32xf32>
// CHECK: prim.cumulative {{ *}}max {{.*}}accc.chunk = 1{{.*}} -> tensor<64x32xf32>
func.func @running(%x: tensor<64x4xf32>) -> tensor<64xf32> {
  %s = prim.dot_general %x, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<64x64xf32>
  %c = prim.cumulative max %s {dimension = 0 : i64} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = prim.reduce max %c {dimensions = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// An op of two results is computed at once.
// CHECK-LABEL: func.func @whole
// CHECK-NOT: accc.chunk
func.func @whole(%x: tensor<64x4xf32>) -> tensor<64xf32> {
  %s = prim.dot_general %x, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<64x64xf32>
  %c, %i = prim.sort %s {descending = false, dimension = 0 : i64} : (tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xi64>)
  %r = prim.reduce max %c {dimensions = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// A factor that two products share takes no memory, and does not make one region of them: of one the columns are cut, of
// the other the rows.
// CHECK-LABEL: func.func @one_factor
// CHECK-NOT: tensor<64x64xf32>
// CHECK: prim.mul {{.*}}accc.chunk = 2{{.*}} -> tensor<32x64xf32>
// CHECK: prim.mul {{.*}}accc.chunk = 0{{.*}} -> tensor<64x32xf32>
// CHECK: return
func.func @one_factor(%x: tensor<64x4xf32>, %w: tensor<4x64xf32>, %u: tensor<4x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %half = prim.constant dense<0.5> : tensor<64x64xf32>
  %a = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<64x4xf32>, tensor<4x64xf32>) -> tensor<64x64xf32>
  %ah = prim.mul %a, %half : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %columns = prim.reduce max %ah {dimensions = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %b = prim.dot_general %x, %u {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<64x4xf32>, tensor<4x64xf32>) -> tensor<64x64xf32>
  %bh = prim.mul %b, %half : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %rows = prim.reduce max %bh {dimensions = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64xf32>
  return %columns, %rows : tensor<64xf32>, tensor<64xf32>
}

// Sums of which one is looked for are no part of what is computed in chunks: the second pass would compute them again,
// perhaps in another order. Others are.
// CHECK-LABEL: func.func @found
// CHECK: %[[SUMS:.*]] = prim.reduce {{ *}}sum %{{.*}} {dimensions = array<i64: 2>} : {{.*}} -> tensor<64x64xf32>
// CHECK-NOT: dimensions = array<i64: 2>
// CHECK: return
func.func @found(%q: tensor<64x4xf32>, %k: tensor<64x4xf32>, %v: tensor<64x4xf32>, %w: tensor<4x4xf32>)
    -> (tensor<64x4xf32>, tensor<64x4xf32>) {
  %rows = prim.broadcast %q {dimensions = array<i64: 0, 2>} : (tensor<64x4xf32>) -> tensor<64x64x4xf32>
  %columns = prim.broadcast %k {dimensions = array<i64: 1, 2>} : (tensor<64x4xf32>) -> tensor<64x64x4xf32>
  %apart = prim.sub %rows, %columns : (tensor<64x64x4xf32>, tensor<64x64x4xf32>) -> tensor<64x64x4xf32>
  %distances = prim.abs %apart : (tensor<64x64x4xf32>) -> tensor<64x64x4xf32>
  %s = prim.reduce sum %distances {dimensions = array<i64: 2>} : (tensor<64x64x4xf32>) -> tensor<64x64xf32>
  %max = prim.reduce max %s {dimensions = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %maxima = prim.broadcast %max {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x64xf32>
  %below = prim.sub %s, %maxima : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = prim.exp %below : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = prim.dot_general %p, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  %dy = prim.dot_general %y, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
  %dp = prim.dot_general %dy, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<64x64xf32>
  %found = prim.compare eq %s, %maxima : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xi1>
  %ones = prim.convert %found : (tensor<64x64xi1>) -> tensor<64x64xf32>
  %there = prim.mul %s, %ones : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %ds = prim.mul %dp, %there : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %dk = prim.dot_general %ds, %q {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  return %y, %dk : tensor<64x4xf32>, tensor<64x4xf32>
}

// CHECK-LABEL: func.func @weighted
// CHECK-COUNT-4: prim.reduce {{ *}}sum %{{.*}}dimensions = array<i64: 2>{{.*}} -> tensor<32x64xf32>
// CHECK: return
func.func @weighted(%q: tensor<64x4xf32>, %k: tensor<64x4xf32>, %v: tensor<64x4xf32>, %w: tensor<4x4xf32>)
    -> (tensor<64x4xf32>, tensor<64x4xf32>) {
  %rows = prim.broadcast %q {dimensions = array<i64: 0, 2>} : (tensor<64x4xf32>) -> tensor<64x64x4xf32>
  %columns = prim.broadcast %k {dimensions = array<i64: 1, 2>} : (tensor<64x4xf32>) -> tensor<64x64x4xf32>
  %apart = prim.sub %rows, %columns : (tensor<64x64x4xf32>, tensor<64x64x4xf32>) -> tensor<64x64x4xf32>
  %distances = prim.abs %apart : (tensor<64x64x4xf32>) -> tensor<64x64x4xf32>
  %s = prim.reduce sum %distances {dimensions = array<i64: 2>} : (tensor<64x64x4xf32>) -> tensor<64x64xf32>
  %max = prim.reduce max %s {dimensions = array<i64: 1>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %maxima = prim.broadcast %max {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x64xf32>
  %below = prim.sub %s, %maxima : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = prim.exp %below : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = prim.dot_general %p, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  %dy = prim.dot_general %y, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
  %dp = prim.dot_general %dy, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<64x64xf32>
  %ds = prim.mul %dp, %s : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %dk = prim.dot_general %ds, %q {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_contracting = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  return %y, %dk : tensor<64x4xf32>, tensor<64x4xf32>
}
