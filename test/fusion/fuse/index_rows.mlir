// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --index-rows | FileCheck %s

// Messages along the edges of a graph, as libraries for graphs add them up: gather and scatter share the rows' indices.
// CHECK-LABEL: @edges
// CHECK: %[[FIRST:.*]] = prim.slice %{{.*}} {limits = array<i64: 1000, 1, 1>
// CHECK: %[[I:.*]] = prim.reshape %[[FIRST]] : (tensor<1000x1x1xi64>) -> tensor<1000xi64>
// CHECK: %[[ROW:.*]] = prim.div %[[I]]
// CHECK: %[[ROWS:.*]] = prim.select %{{.*}}, %[[I]], %[[ROW]]
// CHECK: prim.gather %{{.*}}, %[[ROWS]] {axis = 0 : i64} : (tensor<100x64xf32>, tensor<1000xi64>) -> tensor<1000x64xf32>
// CHECK: prim.scatter %{{.*}}, %[[ROWS]], %{{.*}} {axis = 0 : i64, kind = #prim<scatter_kind max>} : (tensor<100x64xf32>, tensor<1000xi64>, tensor<1000x64xf32>) -> tensor<100x64xf32>
func.func @edges(%x: tensor<6400xf32>, %to: tensor<1000xi64>) -> (tensor<1000x8x8xf32>, tensor<6400xf32>) {
  %place = prim.broadcast %to {dimensions = array<i64: 0>} : (tensor<1000xi64>) -> tensor<1000x8x8xi64>
  %zero = prim.constant dense<0> : tensor<1000x8x8xi64>
  %eight = prim.constant dense<8> : tensor<1000x8x8xi64>
  %extent = prim.constant dense<100> : tensor<1000x8x8xi64>
  %columns = prim.constant dense<64> : tensor<1000x8x8xi64>
  %none = prim.constant dense<-1> : tensor<1000x8x8xi64>
  %low = prim.compare ge %place, %zero : (tensor<1000x8x8xi64>, tensor<1000x8x8xi64>) -> tensor<1000x8x8xi1>
  %high = prim.compare lt %place, %extent : (tensor<1000x8x8xi64>, tensor<1000x8x8xi64>) -> tensor<1000x8x8xi1>
  %both = prim.and %low, %high : (tensor<1000x8x8xi1>, tensor<1000x8x8xi1>) -> tensor<1000x8x8xi1>
  %h = prim.iota {dimension = 1 : i64} : () -> tensor<1000x8x8xi64>
  %c = prim.iota {dimension = 2 : i64} : () -> tensor<1000x8x8xi64>
  %0 = prim.mul %place, %columns : (tensor<1000x8x8xi64>, tensor<1000x8x8xi64>) -> tensor<1000x8x8xi64>
  %1 = prim.mul %h, %eight : (tensor<1000x8x8xi64>, tensor<1000x8x8xi64>) -> tensor<1000x8x8xi64>
  %2 = prim.add %0, %1 : (tensor<1000x8x8xi64>, tensor<1000x8x8xi64>) -> tensor<1000x8x8xi64>
  %3 = prim.add %2, %c : (tensor<1000x8x8xi64>, tensor<1000x8x8xi64>) -> tensor<1000x8x8xi64>
  %i = prim.select %both, %3, %none : (tensor<1000x8x8xi1>, tensor<1000x8x8xi64>, tensor<1000x8x8xi64>) -> tensor<1000x8x8xi64>
  %4 = prim.gather %x, %i {axis = 0 : i64} : (tensor<6400xf32>, tensor<1000x8x8xi64>) -> tensor<1000x8x8xf32>
  %5 = prim.scatter %x, %i, %4 {axis = 0 : i64, kind = #prim<scatter_kind max>} : (tensor<6400xf32>, tensor<1000x8x8xi64>, tensor<1000x8x8xf32>) -> tensor<6400xf32>
  return %4, %5 : tensor<1000x8x8xf32>, tensor<6400xf32>
}

// Rows in lines, through the reshape that repeat() leaves; a sort's places need no guard.
// CHECK-LABEL: @lines
// CHECK-NOT: prim.select
// CHECK: prim.gather %{{.*}} {axis = 0 : i64} : (tensor<120x5xf32>, tensor<4x20xi64>) -> tensor<4x20x5xf32>
func.func @lines(%x: tensor<600xf32>, %noise: tensor<4x30xf32>) -> tensor<4x20x5xf32> {
  %s, %o = prim.sort %noise {dimension = 1 : i64, descending = false, range = array<i64: 0, 20>} : (tensor<4x30xf32>) -> (tensor<4x20xf32>, tensor<4x20xi64>)
  %b = prim.broadcast %o {dimensions = array<i64: 1, 3>} : (tensor<4x20xi64>) -> tensor<1x4x1x20x5x1xi64>
  %p = prim.reshape %b : (tensor<1x4x1x20x5x1xi64>) -> tensor<4x20x5xi64>
  %five = prim.constant dense<5> : tensor<4x20x5xi64>
  %offsets = prim.constant dense<[[[0, 1, 2, 3, 4]], [[150, 151, 152, 153, 154]], [[300, 301, 302, 303, 304]], [[450, 451, 452, 453, 454]]]> : tensor<4x1x5xi64>
  %0 = prim.broadcast %offsets {dimensions = array<i64: 0, 1, 2>} : (tensor<4x1x5xi64>) -> tensor<4x20x5xi64>
  %1 = prim.mul %p, %five : (tensor<4x20x5xi64>, tensor<4x20x5xi64>) -> tensor<4x20x5xi64>
  %2 = prim.add %1, %0 : (tensor<4x20x5xi64>, tensor<4x20x5xi64>) -> tensor<4x20x5xi64>
  %3 = prim.gather %x, %2 {axis = 0 : i64} : (tensor<600xf32>, tensor<4x20x5xi64>) -> tensor<4x20x5xf32>
  return %3 : tensor<4x20x5xf32>
}

// Each element has a place of its own; a part of the columns; the lines' own dimension is the last; one row a line.
// CHECK-LABEL: @no_rows
// CHECK: prim.gather %arg0, %{{.*}} : (tensor<600xf32>, tensor<4x30x5xi64>)
// CHECK: prim.gather %arg0, %{{.*}} : (tensor<600xf32>, tensor<4x30x4xi64>)
// CHECK: prim.gather %arg0, %{{.*}} : (tensor<600xf32>, tensor<20x30xi64>)
// CHECK: prim.gather %arg0, %{{.*}} : (tensor<600xf32>, tensor<4x5xi64>)
func.func @no_rows(%x: tensor<600xf32>, %noise: tensor<4x30x5xf32>, %keys: tensor<4x30xf32>, %line: tensor<30xf32>) -> (tensor<4x30x5xf32>, tensor<4x30x4xf32>, tensor<20x30xf32>, tensor<4x5xf32>) {
  %s, %o = prim.sort %noise {dimension = 1 : i64, descending = false} : (tensor<4x30x5xf32>) -> (tensor<4x30x5xf32>, tensor<4x30x5xi64>)
  %five = prim.constant dense<5> : tensor<4x30x5xi64>
  %offsets = prim.constant dense<[[[0, 1, 2, 3, 4]], [[150, 151, 152, 153, 154]], [[300, 301, 302, 303, 304]], [[450, 451, 452, 453, 454]]]> : tensor<4x1x5xi64>
  %0 = prim.broadcast %offsets {dimensions = array<i64: 0, 1, 2>} : (tensor<4x1x5xi64>) -> tensor<4x30x5xi64>
  %1 = prim.mul %o, %five : (tensor<4x30x5xi64>, tensor<4x30x5xi64>) -> tensor<4x30x5xi64>
  %2 = prim.add %1, %0 : (tensor<4x30x5xi64>, tensor<4x30x5xi64>) -> tensor<4x30x5xi64>
  %3 = prim.gather %x, %2 {axis = 0 : i64} : (tensor<600xf32>, tensor<4x30x5xi64>) -> tensor<4x30x5xf32>
  %t, %q = prim.sort %keys {dimension = 1 : i64, descending = false} : (tensor<4x30xf32>) -> (tensor<4x30xf32>, tensor<4x30xi64>)
  %part = prim.broadcast %q {dimensions = array<i64: 0, 1>} : (tensor<4x30xi64>) -> tensor<4x30x4xi64>
  %also = prim.constant dense<5> : tensor<4x30x4xi64>
  %fewer = prim.constant dense<[[[0, 1, 2, 3]], [[150, 151, 152, 153]], [[300, 301, 302, 303]], [[450, 451, 452, 453]]]> : tensor<4x1x4xi64>
  %4 = prim.broadcast %fewer {dimensions = array<i64: 0, 1, 2>} : (tensor<4x1x4xi64>) -> tensor<4x30x4xi64>
  %5 = prim.mul %part, %also : (tensor<4x30x4xi64>, tensor<4x30x4xi64>) -> tensor<4x30x4xi64>
  %6 = prim.add %5, %4 : (tensor<4x30x4xi64>, tensor<4x30x4xi64>) -> tensor<4x30x4xi64>
  %7 = prim.gather %x, %6 {axis = 0 : i64} : (tensor<600xf32>, tensor<4x30x4xi64>) -> tensor<4x30x4xf32>
  %u, %r = prim.sort %line {dimension = 0 : i64, descending = false} : (tensor<30xf32>) -> (tensor<30xf32>, tensor<30xi64>)
  %all = prim.broadcast %r {dimensions = array<i64: 1>} : (tensor<30xi64>) -> tensor<20x30xi64>
  %rows = prim.iota {dimension = 0 : i64} : () -> tensor<20x30xi64>
  %thirty = prim.constant dense<30> : tensor<20x30xi64>
  %8 = prim.mul %rows, %thirty : (tensor<20x30xi64>, tensor<20x30xi64>) -> tensor<20x30xi64>
  %9 = prim.add %all, %8 : (tensor<20x30xi64>, tensor<20x30xi64>) -> tensor<20x30xi64>
  %10 = prim.gather %x, %9 {axis = 0 : i64} : (tensor<600xf32>, tensor<20x30xi64>) -> tensor<20x30xf32>
  %best = prim.arg_reduce max %keys {dimension = 1 : i64} : (tensor<4x30xf32>) -> tensor<4xi64>
  %one = prim.broadcast %best {dimensions = array<i64: 0>} : (tensor<4xi64>) -> tensor<4x5xi64>
  %short = prim.constant dense<5> : tensor<4x5xi64>
  %starts = prim.constant dense<[[0, 1, 2, 3, 4], [150, 151, 152, 153, 154], [300, 301, 302, 303, 304], [450, 451, 452, 453, 454]]> : tensor<4x5xi64>
  %11 = prim.mul %one, %short : (tensor<4x5xi64>, tensor<4x5xi64>) -> tensor<4x5xi64>
  %12 = prim.add %11, %starts : (tensor<4x5xi64>, tensor<4x5xi64>) -> tensor<4x5xi64>
  %13 = prim.gather %x, %12 {axis = 0 : i64} : (tensor<600xf32>, tensor<4x5xi64>) -> tensor<4x5xf32>
  return %3, %7, %10, %13 : tensor<4x30x5xf32>, tensor<4x30x4xf32>, tensor<20x30xf32>, tensor<4x5xf32>
}
