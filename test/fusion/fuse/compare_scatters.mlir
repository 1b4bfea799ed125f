// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --compare-scatters=target=cuda | FileCheck %s
// RUN: accc-opt %s --compare-scatters | FileCheck %s --check-prefix=CPU

// One update a row, at the place of its greatest element.
// CHECK-LABEL: @greatest
// CHECK: %[[ARG:.*]] = prim.arg_reduce max %arg0
// CHECK-NOT: prim.scatter
// CHECK: %[[PLACE:.*]] = prim.convert {{.*}} -> tensor<64x1xi32>
// CHECK: %[[AT:.*]] = prim.broadcast %{{.*}} {dimensions = array<i64: 0>} : (tensor<64xi32>) -> tensor<64x1000xi32>
// CHECK: %[[I:.*]] = prim.iota {dimension = 1 : i64}
// CHECK: %[[HERE:.*]] = prim.compare eq %[[I]], %[[AT]]
// CHECK: %[[UPDATES:.*]] = prim.broadcast %{{.*}} {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x1000xf32>
// CHECK: %[[Y:.*]] = prim.select %[[HERE]], %[[UPDATES]]
// CHECK: prim.reshape %[[Y]] : (tensor<64x1000xf32>) -> tensor<64000xf32>
// CPU-LABEL: @greatest
// CPU-NOT: prim.scatter
func.func @greatest(%x: tensor<64x1000xf32>, %u: tensor<64xf32>) -> tensor<64000xf32> {
  %zeros = prim.constant dense<0.0> : tensor<64000xf32>
  %c = prim.constant dense<1000> : tensor<64xi64>
  %0 = prim.arg_reduce max %x {dimension = 1 : i64} : (tensor<64x1000xf32>) -> tensor<64xi64>
  %row = prim.iota {dimension = 0 : i64} : () -> tensor<64xi64>
  %1 = prim.mul %row, %c : (tensor<64xi64>, tensor<64xi64>) -> tensor<64xi64>
  %2 = prim.add %0, %1 : (tensor<64xi64>, tensor<64xi64>) -> tensor<64xi64>
  %3 = prim.scatter %zeros, %2, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<64000xf32>, tensor<64xi64>, tensor<64xf32>) -> tensor<64000xf32>
  return %3 : tensor<64000xf32>
}

// Two updates for each of the first 60 columns; a gather reports what is out of range. More than one keep their scatter on
// a CPU.
// CHECK-LABEL: @taken
// CHECK: prim.gather
// CHECK-NOT: prim.scatter
// CHECK: %[[P:.*]] = prim.transpose {{.*}} {permutation = array<i64: 1, 0>} : (tensor<2x60xi64>) -> tensor<60x2xi64>
// CHECK: prim.pad {{.*}}high = array<i64: 4, 0>{{.*}} -> tensor<64x2xi64>
// CHECK: prim.broadcast {{.*}} {dimensions = array<i64: 1, 2>} : (tensor<64x2xi32>) -> tensor<100x64x2xi32>
// CHECK: prim.reduce sum {{.*}} {dimensions = array<i64: 2>} : (tensor<100x64x2xf32>) -> tensor<100x64xf32>
// CHECK: prim.add %arg0
// CPU-LABEL: @taken
// CPU: prim.scatter
func.func @taken(%x: tensor<6400xf32>, %place: tensor<2x60xi64>, %u: tensor<2x60xf32>) -> (tensor<2x60xf32>, tensor<6400xf32>) {
  %zero = prim.constant dense<0> : tensor<2x60xi64>
  %extent = prim.constant dense<100> : tensor<2x60xi64>
  %columns = prim.constant dense<64> : tensor<2x60xi64>
  %none = prim.constant dense<-1> : tensor<2x60xi64>
  %low = prim.compare ge %place, %zero : (tensor<2x60xi64>, tensor<2x60xi64>) -> tensor<2x60xi1>
  %high = prim.compare lt %place, %extent : (tensor<2x60xi64>, tensor<2x60xi64>) -> tensor<2x60xi1>
  %both = prim.and %low, %high : (tensor<2x60xi1>, tensor<2x60xi1>) -> tensor<2x60xi1>
  %row = prim.mul %place, %columns : (tensor<2x60xi64>, tensor<2x60xi64>) -> tensor<2x60xi64>
  %column = prim.iota {dimension = 1 : i64} : () -> tensor<2x60xi64>
  %flat = prim.add %row, %column : (tensor<2x60xi64>, tensor<2x60xi64>) -> tensor<2x60xi64>
  %i = prim.select %both, %flat, %none : (tensor<2x60xi1>, tensor<2x60xi64>, tensor<2x60xi64>) -> tensor<2x60xi64>
  %0 = prim.gather %x, %i {axis = 0 : i64} : (tensor<6400xf32>, tensor<2x60xi64>) -> tensor<2x60xf32>
  %1 = prim.scatter %x, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<6400xf32>, tensor<2x60xi64>, tensor<2x60xf32>) -> tensor<6400xf32>
  return %0, %1 : tensor<2x60xf32>, tensor<6400xf32>
}

// Kept: nothing else reports places out of range; places of which nothing is known; a range that reaches into the next
// line; more rows than the data has; too many updates a line; the last update wins.
// CHECK-LABEL: @kept
// CHECK-COUNT-6: prim.scatter
func.func @kept(%x: tensor<600xf32>, %place: tensor<6xi64>, %u: tensor<6xf32>, %s: tensor<6x100xf32>, %v: tensor<6x80xf32>) -> (tensor<600xf32>, tensor<600xf32>, tensor<600xf32>, tensor<500xf32>, tensor<600xf32>, tensor<600xf32>) {
  %zero = prim.constant dense<0> : tensor<6xi64>
  %extent = prim.constant dense<100> : tensor<6xi64>
  %more = prim.constant dense<101> : tensor<6xi64>
  %none = prim.constant dense<-1> : tensor<6xi64>
  %row = prim.iota {dimension = 0 : i64} : () -> tensor<6xi64>
  %offset = prim.mul %row, %extent : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %flat = prim.add %place, %offset : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %low = prim.compare ge %place, %zero : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
  %high = prim.compare lt %place, %extent : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
  %both = prim.and %low, %high : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
  %i = prim.select %both, %flat, %none : (tensor<6xi1>, tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %unchecked = prim.scatter %x, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<600xf32>, tensor<6xi64>, tensor<6xf32>) -> tensor<600xf32>
  %unknown = prim.scatter %x, %flat, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<600xf32>, tensor<6xi64>, tensor<6xf32>) -> tensor<600xf32>
  %higher = prim.compare lt %place, %more : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi1>
  %wide = prim.and %low, %higher : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
  %j = prim.select %wide, %flat, %none : (tensor<6xi1>, tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %g = prim.gather %x, %j {axis = 0 : i64} : (tensor<600xf32>, tensor<6xi64>) -> tensor<6xf32>
  %next = prim.scatter %x, %j, %g {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<600xf32>, tensor<6xi64>, tensor<6xf32>) -> tensor<600xf32>
  %arg = prim.arg_reduce max %s {dimension = 1 : i64} : (tensor<6x100xf32>) -> tensor<6xi64>
  %best = prim.add %arg, %offset : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %y = prim.constant dense<0.0> : tensor<500xf32>
  %rows = prim.scatter %y, %best, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<500xf32>, tensor<6xi64>, tensor<6xf32>) -> tensor<500xf32>
  %sorted, %order = prim.sort %s {dimension = 1 : i64, descending = false, range = array<i64: 0, 80>} : (tensor<6x100xf32>) -> (tensor<6x80xf32>, tensor<6x80xi64>)
  %lines = prim.iota {dimension = 0 : i64} : () -> tensor<6x80xi64>
  %hundred = prim.constant dense<100> : tensor<6x80xi64>
  %offsets = prim.mul %lines, %hundred : (tensor<6x80xi64>, tensor<6x80xi64>) -> tensor<6x80xi64>
  %all = prim.add %order, %offsets : (tensor<6x80xi64>, tensor<6x80xi64>) -> tensor<6x80xi64>
  %many = prim.scatter %x, %all, %v {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<600xf32>, tensor<6x80xi64>, tensor<6x80xf32>) -> tensor<600xf32>
  %set = prim.scatter %x, %best, %u {axis = 0 : i64, kind = #prim<scatter_kind set>} : (tensor<600xf32>, tensor<6xi64>, tensor<6xf32>) -> tensor<600xf32>
  return %unchecked, %unknown, %next, %rows, %many, %set : tensor<600xf32>, tensor<600xf32>, tensor<600xf32>, tensor<500xf32>, tensor<600xf32>, tensor<600xf32>
}

// One position along two dimensions: a diagonal, on which most of the data has no place.
// CHECK-LABEL: @diagonal
// CHECK: prim.scatter
func.func @diagonal(%s: tensor<6x100xf32>, %u: tensor<6xf32>) -> tensor<3600xf32> {
  %zeros = prim.constant dense<0.0> : tensor<3600xf32>
  %lines = prim.constant dense<36> : tensor<6xi64>
  %rows = prim.constant dense<6> : tensor<6xi64>
  %place = prim.arg_reduce max %s {dimension = 1 : i64} : (tensor<6x100xf32>) -> tensor<6xi64>
  %i = prim.iota {dimension = 0 : i64} : () -> tensor<6xi64>
  %0 = prim.mul %place, %lines : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %1 = prim.mul %i, %rows : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %2 = prim.add %0, %1 : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %3 = prim.add %2, %i : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %4 = prim.scatter %zeros, %3, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<3600xf32>, tensor<6xi64>, tensor<6xf32>) -> tensor<3600xf32>
  return %4 : tensor<3600xf32>
}

// Whole sorted lines: each element has one update, which is written where it belongs.
// CHECK-LABEL: @sorted_lines
// CHECK: prim.scatter
func.func @sorted_lines(%s: tensor<60x10xf32>, %u: tensor<60x10xf32>) -> tensor<600xf32> {
  %zeros = prim.constant dense<0.0> : tensor<600xf32>
  %ten = prim.constant dense<10> : tensor<60x10xi64>
  %sorted, %order = prim.sort %s {dimension = 1 : i64, descending = false} : (tensor<60x10xf32>) -> (tensor<60x10xf32>, tensor<60x10xi64>)
  %lines = prim.iota {dimension = 0 : i64} : () -> tensor<60x10xi64>
  %offsets = prim.mul %lines, %ten : (tensor<60x10xi64>, tensor<60x10xi64>) -> tensor<60x10xi64>
  %i = prim.add %order, %offsets : (tensor<60x10xi64>, tensor<60x10xi64>) -> tensor<60x10xi64>
  %0 = prim.scatter %zeros, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<600xf32>, tensor<60x10xi64>, tensor<60x10xf32>) -> tensor<600xf32>
  return %0 : tensor<600xf32>
}
