// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --form-fusions | FileCheck %s

// Nobody reads the difference or its square: no kernel computes them.
// CHECK-LABEL: @unread
// CHECK-NEXT: %[[Y:.*]] = prim.fusion loop "neg"(%arg0)
// CHECK-NOT: prim.fusion
// CHECK-NOT: prim.sub
// CHECK: return %[[Y]]
func.func @unread(%x: tensor<64x64xf32>, %m: tensor<64xf32>) -> tensor<64x64xf32> {
  %0 = prim.broadcast %m {dimensions = array<i64: 1>} : (tensor<64xf32>) -> tensor<64x64xf32>
  %1 = prim.sub %x, %0 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = prim.mul %1, %1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = prim.neg %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}

// A broadcast and a constant are computed in each kernel: what else reads them shares nothing with it.
// CHECK-LABEL: @only_computed_in_common
// CHECK-COUNT-2: prim.fusion loop "mul_sub"
func.func @only_computed_in_common(%p: tensor<512x512xf32>, %q: tensor<512x512xf32>, %rate: tensor<f32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %0 = prim.broadcast %rate {dimensions = array<i64>} : (tensor<f32>) -> tensor<512x512xf32>
  %1 = prim.constant dense<0.5> : tensor<512x512xf32>
  %2 = prim.mul %p, %0 : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %3 = prim.sub %2, %1 : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %4 = prim.mul %q, %0 : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %5 = prim.sub %4, %1 : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %3, %5 : tensor<512x512xf32>, tensor<512x512xf32>
}

// Slices that take all of a value apart are places in its memory, which the products read: queries, keys and values.
// What one slice alone takes of a value is all that is computed of it; a result is no place in another value.
// CHECK-LABEL: @parts
// CHECK-NEXT: %[[X:.*]] = prim.fusion loop "neg"(%arg0) : (tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
// CHECK-NOT: prim.fusion
// CHECK: prim.slice %[[X]] {{.*}}starts = array<i64: 0, 0, 0>
// CHECK-NEXT: prim.slice %[[X]] {{.*}}starts = array<i64: 1, 0, 0>
// CHECK-NEXT: prim.dot_general
// CHECK-NEXT: prim.fusion loop "tanh_slice"(%arg0) : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
// CHECK: prim.dot_general
// CHECK: %[[COPY:.*]] = prim.fusion loop "slice"
// CHECK: return {{.*}}, %[[COPY]]
func.func @parts(%a: tensor<2x64x64xf32>) -> (tensor<1x64x64xf32>, tensor<1x32x64xf32>) {
  %x = prim.neg %a : (tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %0 = prim.slice %x {starts = array<i64: 0, 0, 0>, limits = array<i64: 1, 64, 64>, strides = array<i64: 1, 1, 1>} : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
  %1 = prim.slice %x {starts = array<i64: 1, 0, 0>, limits = array<i64: 2, 64, 64>, strides = array<i64: 1, 1, 1>} : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
  %2 = prim.dot_general %0, %1 {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<1x64x64xf32>, tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  %t = prim.tanh %a : (tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %3 = prim.slice %t {starts = array<i64: 1, 0, 0>, limits = array<i64: 2, 64, 64>, strides = array<i64: 1, 1, 1>} : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
  %4 = prim.dot_general %3, %2 {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<1x64x64xf32>, tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  %5 = prim.slice %4 {starts = array<i64: 0, 0, 0>, limits = array<i64: 1, 32, 64>, strides = array<i64: 1, 1, 1>} : (tensor<1x64x64xf32>) -> tensor<1x32x64xf32>
  return %2, %5 : tensor<1x64x64xf32>, tensor<1x32x64xf32>
}

// A gradient is returned behind a barrier, which goes when kernels are formed: it is no place either.
// CHECK-LABEL: @returned_behind_a_barrier
// CHECK: %[[PRODUCT:.*]] = prim.dot_general
// CHECK: prim.slice %[[PRODUCT]] {{.*}}starts = array<i64: 0, 0, 0>
// CHECK: %[[COPY:.*]] = prim.fusion loop "slice"
// CHECK: %[[Z:.*]] = prim.dot_general
// CHECK: return %[[COPY]], %[[Z]]
func.func @returned_behind_a_barrier(%a: tensor<2x64x64xf32>) -> (tensor<1x64x64xf32>, tensor<1x64x64xf32>) {
  %x = prim.dot_general %a, %a {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<2x64x64xf32>, tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %0 = prim.slice %x {starts = array<i64: 0, 0, 0>, limits = array<i64: 1, 64, 64>, strides = array<i64: 1, 1, 1>} : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
  %1 = prim.slice %x {starts = array<i64: 1, 0, 0>, limits = array<i64: 2, 64, 64>, strides = array<i64: 1, 1, 1>} : (tensor<2x64x64xf32>) -> tensor<1x64x64xf32>
  %2 = prim.optimization_barrier %0 : (tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  %3 = prim.dot_general %1, %1 {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<1x64x64xf32>, tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  return %2, %3 : tensor<1x64x64xf32>, tensor<1x64x64xf32>
}

// Weights of pairs, each for a run of neighbours: a kernel of their own computes them in vectors. Two ops are computed
// with the sums, and so is what the kernel computes of its own reduction, once a row.
// CHECK-LABEL: @weighted_pairs
// CHECK-NEXT: %[[W:.*]] = prim.fusion loop "sqrt_div_mul_add"(%arg0) : (tensor<128x128xf32>) -> tensor<128x128xf32>
// CHECK: prim.fusion reduce "mul_reduce"(%[[W]], %arg1)
// CHECK: prim.fusion reduce "mul_sqrt_reduce"(%arg0, %arg1)
// CHECK-NOT: prim.fusion
// CHECK: return
func.func @weighted_pairs(%d: tensor<128x128xf32>, %x: tensor<128x64xf32>) -> (tensor<128x64xf32>, tensor<128x64xf32>) {
  %0 = prim.sqrt %d : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %1 = prim.div %d, %0 : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %2 = prim.mul %1, %d : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %3 = prim.add %2, %d : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %4 = prim.broadcast %3 {dimensions = array<i64: 0, 1>} : (tensor<128x128xf32>) -> tensor<128x128x64xf32>
  %5 = prim.broadcast %x {dimensions = array<i64: 1, 2>} : (tensor<128x64xf32>) -> tensor<128x128x64xf32>
  %6 = prim.mul %4, %5 : (tensor<128x128x64xf32>, tensor<128x128x64xf32>) -> tensor<128x128x64xf32>
  %7 = prim.reduce sum %6 {dimensions = array<i64: 1>} : (tensor<128x128x64xf32>) -> tensor<128x64xf32>
  %8 = prim.mul %d, %d : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %9 = prim.sqrt %8 : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %10 = prim.broadcast %9 {dimensions = array<i64: 0, 1>} : (tensor<128x128xf32>) -> tensor<128x128x64xf32>
  %11 = prim.mul %10, %5 : (tensor<128x128x64xf32>, tensor<128x128x64xf32>) -> tensor<128x128x64xf32>
  %12 = prim.reduce max %11 {dimensions = array<i64: 0>} : (tensor<128x128x64xf32>) -> tensor<128x64xf32>
  return %7, %12 : tensor<128x64xf32>, tensor<128x64xf32>
}

// CHECK-LABEL: @of_their_rows
// CHECK-NEXT: prim.fusion reduce
// CHECK-NOT: prim.fusion
// CHECK: return
func.func @of_their_rows(%x: tensor<8192x64xf32>, %e: tensor<8192xf32>) -> tensor<8192x64xf32> {
  %0 = prim.mul %x, %x : (tensor<8192x64xf32>, tensor<8192x64xf32>) -> tensor<8192x64xf32>
  %1 = prim.reduce sum %0 {dimensions = array<i64: 1>} : (tensor<8192x64xf32>) -> tensor<8192xf32>
  %2 = prim.add %1, %e : (tensor<8192xf32>, tensor<8192xf32>) -> tensor<8192xf32>
  %3 = prim.sqrt %2 : (tensor<8192xf32>) -> tensor<8192xf32>
  %4 = prim.div %e, %3 : (tensor<8192xf32>, tensor<8192xf32>) -> tensor<8192xf32>
  %5 = prim.mul %4, %3 : (tensor<8192xf32>, tensor<8192xf32>) -> tensor<8192xf32>
  %6 = prim.sub %5, %e : (tensor<8192xf32>, tensor<8192xf32>) -> tensor<8192xf32>
  %7 = prim.broadcast %6 {dimensions = array<i64: 0>} : (tensor<8192xf32>) -> tensor<8192x64xf32>
  %8 = prim.mul %x, %7 : (tensor<8192x64xf32>, tensor<8192x64xf32>) -> tensor<8192x64xf32>
  return %8 : tensor<8192x64xf32>
}
