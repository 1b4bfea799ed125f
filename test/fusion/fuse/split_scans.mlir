// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --split-scans=target=cuda | FileCheck %s
// RUN: accc-opt %s --split-scans | FileCheck %s --check-prefix=CPU
// UNSUPPORTED: small-thresholds

// A row: the first element of each run but the first starts from what the runs before it add up to.
// CHECK-LABEL: @row
// CHECK: %[[RUNS:.*]] = prim.reshape %arg0 : (tensor<8192xf32>) -> tensor<16x512xf32>
// CHECK: %[[SUMS:.*]] = prim.reduce sum %[[RUNS]] {dimensions = array<i64: 1>}
// CHECK: %[[ENDS:.*]] = prim.cumulative sum %[[SUMS]] {dimension = 0 : i64}
// CHECK: %[[START:.*]] = prim.pad %[[ENDS]]{{.*}}high = array<i64: -1>{{.*}}low = array<i64: 1>
// CHECK: %[[MORE:.*]] = prim.broadcast %[[START]] {dimensions = array<i64: 0>}
// CHECK: %[[SUM:.*]] = prim.add %[[MORE]], %[[RUNS]]
// CHECK: %[[FIRST:.*]] = prim.select %{{.*}}, %[[SUM]], %[[RUNS]]
// CHECK: %[[STARTED:.*]] = prim.select %{{.*}}, %[[FIRST]], %[[RUNS]]
// CHECK: %[[Y:.*]] = prim.cumulative sum %[[STARTED]] {dimension = 1 : i64}
// CHECK: prim.reshape %[[Y]] : (tensor<16x512xf32>) -> tensor<8192xf32>
// A walk over the line is as fast on a CPU.
// CPU-LABEL: @row
// CPU-NEXT: prim.cumulative sum %arg0
func.func @row(%x: tensor<8192xf32>) -> tensor<8192xf32> {
  %0 = prim.cumulative sum %x {dimension = 0 : i64} : (tensor<8192xf32>) -> tensor<8192xf32>
  return %0 : tensor<8192xf32>
}

// Columns, of a length that runs do not divide.
// CHECK-LABEL: @columns
// CHECK: %[[FULL:.*]] = prim.pad %arg0{{.*}}high = array<i64: 0, 52, 0>
// CHECK: prim.reshape %[[FULL]] : (tensor<2x1152x64xi64>) -> tensor<2x9x128x64xi64>
// CHECK: %[[Y:.*]] = prim.reshape {{.*}} -> tensor<2x1152x64xi64>
// CHECK: prim.slice %[[Y]] {limits = array<i64: 2, 1100, 64>
func.func @columns(%y: tensor<2x1100x64xi64>) -> tensor<2x1100x64xi64> {
  %0 = prim.cumulative max %y {dimension = 1 : i64} : (tensor<2x1100x64xi64>) -> tensor<2x1100x64xi64>
  return %0 : tensor<2x1100x64xi64>
}

// Short lines, many lines, and floats of which more is accumulated than stored.
// CHECK-LABEL: @whole
// CHECK-NEXT: prim.cumulative sum %arg0
// CHECK-NEXT: prim.cumulative sum %arg1
// CHECK-NEXT: prim.cumulative sum %arg2
// CHECK-NEXT: return
func.func @whole(%x: tensor<4x2048xf32>, %y: tensor<8192x8192xf32>, %z: tensor<65536xbf16>) -> (tensor<4x2048xf32>, tensor<8192x8192xf32>, tensor<65536xbf16>) {
  %0 = prim.cumulative sum %x {dimension = 1 : i64} : (tensor<4x2048xf32>) -> tensor<4x2048xf32>
  %1 = prim.cumulative sum %y {dimension = 1 : i64} : (tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %2 = prim.cumulative sum %z {dimension = 0 : i64} : (tensor<65536xbf16>) -> tensor<65536xbf16>
  return %0, %1, %2 : tensor<4x2048xf32>, tensor<8192x8192xf32>, tensor<65536xbf16>
}
