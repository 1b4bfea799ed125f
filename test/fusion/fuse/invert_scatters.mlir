// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --invert-scatters=target=cuda | FileCheck %s
// RUN: accc-opt %s --invert-scatters | FileCheck %s --check-prefix=CPU

// Up to three updates for each of four columns, added to what is there in the order of the indices. On a CPU they stay:
// two columns have fewer.
// CHECK-LABEL: @columns
// CHECK: %[[COUNT:.*]] = prim.constant dense<[3, 1, 2, 1]> : tensor<4xi32>
// CHECK: %[[PLACES:.*]] = prim.constant dense<{{\[}}[0, 1, 3, 6], [2, 0, 4, 0], [5, 0, 0, 0]]> : tensor<3x4xi32>
// CHECK: %[[S0:.*]] = prim.slice %[[PLACES]] {limits = array<i64: 1, 4>, starts = array<i64: 0, 0>
// CHECK: %[[P0:.*]] = prim.reshape %[[S0]]
// CHECK: %[[G0:.*]] = prim.gather %arg1, %[[P0]] {axis = 1 : i64} : (tensor<8x7xf32>, tensor<4xi32>) -> tensor<8x4xf32>
// CHECK: %[[R0:.*]] = prim.add %arg0, %[[G0]]
// CHECK: %[[G1:.*]] = prim.gather %arg1
// CHECK: %[[C1:.*]] = prim.broadcast %[[COUNT]] {dimensions = array<i64: 1>}
// CHECK: %[[HAS1:.*]] = prim.compare gt %[[C1]]
// CHECK: %[[A1:.*]] = prim.select %[[HAS1]], %[[G1]]
// CHECK: %[[R1:.*]] = prim.add %[[R0]], %[[A1]]
// CHECK: %[[A2:.*]] = prim.select
// CHECK: %[[R2:.*]] = prim.add %[[R1]], %[[A2]]
// CHECK: return %[[R2]]
// CPU-LABEL: @columns
// CPU: prim.scatter
func.func @columns(%x: tensor<8x4xf32>, %u: tensor<8x7xf32>) -> tensor<8x4xf32> {
  %i = prim.constant dense<[0, 1, 0, 2, 2, 0, 3]> : tensor<7xi64>
  %0 = prim.scatter %x, %i, %u {axis = 1 : i64, kind = #prim<scatter_kind add>} : (tensor<8x4xf32>, tensor<7xi64>, tensor<8x7xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// One update for each row: nothing is compared, and zeros are not added to.
// CHECK-LABEL: @permutation
// CHECK: prim.constant dense<{{\[}}[1, 2, 0]]> : tensor<1x3xi32>
// CHECK: %[[G:.*]] = prim.gather %arg0
// CHECK-NOT: prim.select
// CHECK: return %[[G]]
// CPU-LABEL: @permutation
// CPU-NOT: prim.scatter
func.func @permutation(%u: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %zeros = prim.constant dense<0.0> : tensor<3x8xf32>
  %i = prim.constant dense<[2, 0, 1]> : tensor<3xi64>
  %0 = prim.scatter %zeros, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<3x8xf32>, tensor<3xi64>, tensor<3x8xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// The last update of each row is kept.
// CHECK-LABEL: @last
// CHECK: prim.constant dense<[0, 1, 1]> : tensor<3xi32>
// CHECK: prim.constant dense<{{\[}}[0, 3, 2]]> : tensor<1x3xi32>
// CHECK: %[[G:.*]] = prim.gather {{.*}} (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
// CHECK: %[[R:.*]] = prim.select %{{.*}}, %[[G]], %arg0
// CHECK: return %[[R]]
func.func @last(%x: tensor<3x8xf32>, %u: tensor<2x2x8xf32>) -> tensor<3x8xf32> {
  %i = prim.constant dense<[[1, 2], [2, 1]]> : tensor<2x2xi64>
  %0 = prim.scatter %x, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind set>} : (tensor<3x8xf32>, tensor<2x2xi64>, tensor<2x2x8xf32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// Many updates a row are a sum over a dimension of their own; of fewer than the most the others do not count.
// CHECK-LABEL: @many
// CHECK: %[[COUNT:.*]] = prim.constant dense<[10, 9]> : tensor<2xi32>
// CHECK: %[[PLACES:.*]] = prim.constant {{.*}} : tensor<10x2xi32>
// CHECK: %[[FLAT:.*]] = prim.reshape %[[PLACES]] {{.*}} -> tensor<20xi32>
// CHECK: %[[ALL:.*]] = prim.gather %arg0, %[[FLAT]] {axis = 1 : i64} : (tensor<3x19x8xf32>, tensor<20xi32>) -> tensor<3x20x8xf32>
// CHECK: %[[ROWS:.*]] = prim.reshape %[[ALL]] {{.*}} -> tensor<3x10x2x8xf32>
// CHECK: %[[COUNTS:.*]] = prim.broadcast %[[COUNT]] {dimensions = array<i64: 2>}
// CHECK: %[[NUMBER:.*]] = prim.iota {dimension = 1 : i64}
// CHECK: %[[HAS:.*]] = prim.compare lt %[[NUMBER]], %[[COUNTS]]
// CHECK: %[[THOSE:.*]] = prim.select %[[HAS]], %[[ROWS]]
// CHECK: %[[SUM:.*]] = prim.reduce sum %[[THOSE]] {dimensions = array<i64: 1>} : (tensor<3x10x2x8xf32>) -> tensor<3x2x8xf32>
// CHECK: return %[[SUM]]
// CPU-LABEL: @many
// CPU: prim.scatter
func.func @many(%u: tensor<3x19x8xf32>) -> tensor<3x2x8xf32> {
  %zeros = prim.constant dense<0.0> : tensor<3x2x8xf32>
  %i = prim.constant dense<[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]> : tensor<19xi64>
  %0 = prim.scatter %zeros, %i, %u {axis = 1 : i64, kind = #prim<scatter_kind add>} : (tensor<3x2x8xf32>, tensor<19xi64>, tensor<3x19x8xf32>) -> tensor<3x2x8xf32>
  return %0 : tensor<3x2x8xf32>
}

// Kept: an index that is out of range; one row of many gets updates; one gets too many; greatest ones.
// CHECK-LABEL: @kept
// CHECK-COUNT-4: prim.scatter
// CPU-LABEL: @kept
// CPU-COUNT-4: prim.scatter
func.func @kept(%x: tensor<3xf32>, %u: tensor<3xf32>, %y: tensor<100xf32>, %z: tensor<4xf32>, %many: tensor<20xf32>)
    -> (tensor<3xf32>, tensor<100xf32>, tensor<4xf32>, tensor<3xf32>) {
  %outside = prim.constant dense<[2, 0, 3]> : tensor<3xi64>
  %inside = prim.constant dense<[2, 0, 1]> : tensor<3xi64>
  %ones = prim.constant dense<1> : tensor<20xi64>
  %0 = prim.scatter %x, %outside, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<3xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<3xf32>
  %1 = prim.scatter %y, %inside, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<100xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<100xf32>
  %2 = prim.scatter %z, %ones, %many {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<4xf32>, tensor<20xi64>, tensor<20xf32>) -> tensor<4xf32>
  %3 = prim.scatter %x, %inside, %u {axis = 0 : i64, kind = #prim<scatter_kind max>} : (tensor<3xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<100xf32>, tensor<4xf32>, tensor<3xf32>
}
