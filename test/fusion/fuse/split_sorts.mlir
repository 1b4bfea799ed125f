// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --split-sorts=target=cuda | FileCheck %s
// RUN: accc-opt %s --split-sorts | FileCheck %s --check-prefix=CPU
// UNSUPPORTED: small-thresholds

// Three runs of equal length, the last filled up with what goes last; two merges. The places follow both.
// CHECK-LABEL: @three_runs
// CHECK: %[[LAST:.*]] = prim.constant dense<0x7FC00000> : tensor<1x2xf32>
// CHECK: %[[FULL:.*]] = prim.concatenate %{{.*}}, %[[LAST]] {dimension = 1 : i64}
// CHECK: %[[RUNS:.*]] = prim.reshape %[[FULL]] : (tensor<1x10002xf32>) -> tensor<1x3x3334xf32>
// CHECK: %[[V:.*]], %[[I:.*]] = prim.sort %[[RUNS]] {descending = false, dimension = 2 : i64}
// CHECK: %[[M0:.*]], %[[P0:.*]] = prim.merge %{{.*}} {descending = false, dimension = 1 : i64, run = 3334 : i64} : (tensor<1x10000xf32>)
// CHECK: %[[M1:.*]], %[[P1:.*]] = prim.merge %[[M0]] {descending = false, dimension = 1 : i64, run = 6668 : i64}
// CHECK: prim.gather %{{.*}}, %[[P1]] {axis = 0 : i64}
// CHECK: prim.gather
// CHECK-NOT: prim.merge
// CPU-LABEL: @three_runs
// CPU-NEXT: prim.sort %arg0
func.func @three_runs(%x: tensor<10000xf32>) -> (tensor<10000xf32>, tensor<10000xi64>) {
  %v, %i = prim.sort %x {dimension = 0 : i64, descending = false} : (tensor<10000xf32>) -> (tensor<10000xf32>, tensor<10000xi64>)
  return %v, %i : tensor<10000xf32>, tensor<10000xi64>
}

// Columns are lines of the transpose; of values alone no place is followed.
// CHECK-LABEL: @columns
// CHECK-NEXT: %[[T:.*]] = prim.transpose %arg0 {permutation = array<i64: 1, 0>} : (tensor<8192x3xi32>) -> tensor<3x8192xi32>
// CHECK-NEXT: %[[RUNS:.*]] = prim.reshape %[[T]] : (tensor<3x8192xi32>) -> tensor<3x2x4096xi32>
// CHECK-NEXT: prim.sort %[[RUNS]] {descending = true, dimension = 2 : i64}
// CHECK-NOT: prim.gather
// CHECK: prim.merge %{{.*}} {descending = true, dimension = 1 : i64, run = 4096 : i64}
// CHECK-NOT: prim.gather
// CHECK: prim.transpose %{{.*}} {permutation = array<i64: 1, 0>} : (tensor<3x8192xi32>) -> tensor<8192x3xi32>
func.func @columns(%x: tensor<8192x3xi32>) -> tensor<8192x3xi32> {
  %v, %i = prim.sort %x {dimension = 0 : i64, descending = true} : (tensor<8192x3xi32>) -> (tensor<8192x3xi32>, tensor<8192x3xi64>)
  return %v : tensor<8192x3xi32>
}

// What fits a block stays.
// CHECK-LABEL: @short
// CHECK-NEXT: prim.sort %arg0
// CHECK-NEXT: return
func.func @short(%x: tensor<5x4096xf32>) -> tensor<5x4096xf32> {
  %v, %i = prim.sort %x {dimension = 1 : i64, descending = false} : (tensor<5x4096xf32>) -> (tensor<5x4096xf32>, tensor<5x4096xi64>)
  return %v : tensor<5x4096xf32>
}

// Of the first few places each run gives as many, and so do these again; nothing is merged.
// CHECK-LABEL: @first_few
// CHECK: %[[RUNS:.*]] = prim.reshape %{{.*}} -> tensor<1x3x3334xf32>
// CHECK: prim.sort %[[RUNS]] {descending = true, dimension = 2 : i64, range = array<i64: 0, 1500>} : (tensor<1x3x3334xf32>)
// CHECK: prim.sort %{{.*}} {descending = true, dimension = 2 : i64, range = array<i64: 0, 1500>} : (tensor<1x2x2250xf32>)
// CHECK: prim.sort %{{.*}} {descending = true, dimension = 1 : i64, range = array<i64: 7, 1500>} : (tensor<1x3000xf32>) -> (tensor<1x1493xf32>
// CHECK-NOT: prim.merge
// CPU-LABEL: @first_few
// CPU-NEXT: prim.sort %arg0
func.func @first_few(%x: tensor<10000xf32>) -> tensor<1493xi64> {
  %v, %i = prim.sort %x {dimension = 0 : i64, descending = true, range = array<i64: 7, 1500>} : (tensor<10000xf32>) -> (tensor<1493xf32>, tensor<1493xi64>)
  return %i : tensor<1493xi64>
}

// Others are taken from the whole.
// CHECK-LABEL: @middle
// CHECK: %[[V:.*]], %{{.*}} = prim.merge
// CHECK: prim.slice %[[V]] {limits = array<i64: 1, 5000>, starts = array<i64: 0, 4999>, strides = array<i64: 1, 1>} : (tensor<1x8192xf32>) -> tensor<1x1xf32>
func.func @middle(%x: tensor<8192xf32>) -> tensor<1xf32> {
  %v, %i = prim.sort %x {dimension = 0 : i64, descending = false, range = array<i64: 4999, 5000>} : (tensor<8192xf32>) -> (tensor<1xf32>, tensor<1xi64>)
  return %v : tensor<1xf32>
}
