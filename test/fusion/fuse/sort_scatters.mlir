// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --sort-scatters=target=cuda | FileCheck %s
// RUN: accc-opt %s --sort-scatters=target=cuda --split-sorts=target=cuda --form-fusions=target=cuda | FileCheck %s --check-prefix=FUSED
// RUN: accc-opt %s --sort-scatters | FileCheck %s --check-prefix=CPU
// UNSUPPORTED: small-thresholds

// Messages along the edges of a graph: two scatters by the same indices share their order, in which each kernel reads its
// updates where they lie.
// CHECK-LABEL: @edges
// CHECK: %[[SORTED:.*]], %[[ORDER:.*]] = prim.sort %{{.*}} {descending = false, dimension = 0 : i64} : (tensor<60000xi64>)
// CHECK: %[[A:.*]] = prim.gather %{{.*}}, %[[ORDER]] {axis = 0 : i64} : (tensor<60000x2xf32>, tensor<60000xi64>) -> tensor<60000x2xf32>
// CHECK: prim.scatter %{{.*}}, %[[SORTED]], %[[A]] {axis = 0 : i64, indices_are_sorted, kind = #prim<scatter_kind add>}
// CHECK-NOT: prim.sort
// CHECK: %[[B:.*]] = prim.gather %{{.*}}, %[[ORDER]] {axis = 0 : i64} : (tensor<60000xf32>, tensor<60000xi64>) -> tensor<60000xf32>
// CHECK: prim.scatter %{{.*}}, %[[SORTED]], %[[B]] {axis = 0 : i64, indices_are_sorted, kind = #prim<scatter_kind max>}
// FUSED-LABEL: @edges
// FUSED: prim.fusion scatter "gather_scatter"
// FUSED: prim.fusion scatter "gather_scatter"
// CPU-LABEL: @edges
// CPU-NOT: prim.sort
func.func @edges(%x: tensor<3000x2xf32>, %s: tensor<3000xf32>, %to: tensor<300x200xi64>, %m: tensor<300x200x2xf32>, %w: tensor<300x200xf32>) -> (tensor<3000x2xf32>, tensor<3000xf32>) {
  %0 = prim.scatter %x, %to, %m {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<3000x2xf32>, tensor<300x200xi64>, tensor<300x200x2xf32>) -> tensor<3000x2xf32>
  %1 = prim.scatter %s, %to, %w {axis = 0 : i64, kind = #prim<scatter_kind max>} : (tensor<3000xf32>, tensor<300x200xi64>, tensor<300x200xf32>) -> tensor<3000xf32>
  return %0, %1 : tensor<3000x2xf32>, tensor<3000xf32>
}

// The gradient of a gather along the first dimension: each column's places are sorted by themselves, and the data's columns lie
// one behind the other. Two scatters into data of that shape share them; data of another number of rows has its own, and rows
// of several elements are found by the indices themselves.
// CHECK-LABEL: @lines
// CHECK: %[[ALL:.*]], %{{.*}} = prim.sort %{{.*}} {descending = false, dimension = 0 : i64} : (tensor<24000xi64>)
// CHECK: %[[PLACES:.*]] = prim.transpose %arg1 {permutation = array<i64: 1, 0>} : (tensor<400x60xi64>) -> tensor<60x400xi64>
// CHECK: %[[NARROW:.*]] = prim.convert %[[PLACES]] : (tensor<60x400xi64>) -> tensor<60x400xi32>
// CHECK: prim.sort %[[NARROW]] {descending = false, dimension = 1 : i64}
// CHECK: dense<400>
// CHECK: %[[OTHER:.*]] = prim.reshape %{{.*}} : (tensor<60x400xi64>) -> tensor<24000xi64>
// CHECK: %[[VALUES:.*]], %[[ORDER:.*]] = prim.sort %{{.*}} {descending = false, dimension = 1 : i64}
// CHECK: %[[LINES:.*]] = prim.constant dense<300>
// CHECK: prim.mul %{{.*}}, %[[LINES]]
// CHECK: %[[SORTED:.*]] = prim.reshape %{{.*}} : (tensor<60x400xi64>) -> tensor<24000xi64>
// CHECK-NOT: prim.sort
// CHECK: prim.transpose %arg2 {permutation = array<i64: 1, 0>} : (tensor<400x60xf32>) -> tensor<60x400xf32>
// CHECK: %[[U:.*]] = prim.gather
// CHECK: prim.transpose %{{.*}} {permutation = array<i64: 1, 0>} : (tensor<300x64xf32>) -> tensor<64x300xf32>
// CHECK: %[[S:.*]] = prim.scatter %{{.*}}, %[[SORTED]], %[[U]] {axis = 0 : i64, indices_are_sorted, kind = #prim<scatter_kind add>}
// CHECK: %[[L:.*]] = prim.reshape %[[S]] : (tensor<19200xf32>) -> tensor<64x300xf32>
// CHECK: prim.transpose %[[L]] {permutation = array<i64: 1, 0>} : (tensor<64x300xf32>) -> tensor<300x64xf32>
// CHECK: prim.scatter %{{.*}}, %[[SORTED]], %{{.*}} {axis = 0 : i64, indices_are_sorted, kind = #prim<scatter_kind set>}
// CHECK: prim.scatter %{{.*}}, %[[OTHER]], %{{.*}} {axis = 0 : i64, indices_are_sorted, kind = #prim<scatter_kind max>}
// CHECK: prim.scatter %arg4, %[[ALL]], %{{.*}} {axis = 0 : i64, indices_are_sorted, kind = #prim<scatter_kind add>}
// CPU-LABEL: @lines
// CPU-NOT: prim.sort
// CPU-LABEL: @no_lines
func.func @lines(%x: tensor<19200xf32>, %place: tensor<400x60xi64>, %u: tensor<400x60xf32>, %y: tensor<25600xf32>, %rows: tensor<19200x2xf32>, %v: tensor<400x60x2xf32>) -> (tensor<400x60xf32>, tensor<19200xf32>, tensor<19200xf32>, tensor<25600xf32>, tensor<19200x2xf32>) {
  %zero = prim.constant dense<0> : tensor<400x60xi64>
  %extent = prim.constant dense<300> : tensor<400x60xi64>
  %columns = prim.constant dense<64> : tensor<400x60xi64>
  %none = prim.constant dense<-1> : tensor<400x60xi64>
  %low = prim.compare ge %place, %zero : (tensor<400x60xi64>, tensor<400x60xi64>) -> tensor<400x60xi1>
  %high = prim.compare lt %place, %extent : (tensor<400x60xi64>, tensor<400x60xi64>) -> tensor<400x60xi1>
  %both = prim.and %low, %high : (tensor<400x60xi1>, tensor<400x60xi1>) -> tensor<400x60xi1>
  %row = prim.mul %place, %columns : (tensor<400x60xi64>, tensor<400x60xi64>) -> tensor<400x60xi64>
  %column = prim.iota {dimension = 1 : i64} : () -> tensor<400x60xi64>
  %flat = prim.add %row, %column : (tensor<400x60xi64>, tensor<400x60xi64>) -> tensor<400x60xi64>
  %i = prim.select %both, %flat, %none : (tensor<400x60xi1>, tensor<400x60xi64>, tensor<400x60xi64>) -> tensor<400x60xi64>
  %0 = prim.gather %x, %i {axis = 0 : i64} : (tensor<19200xf32>, tensor<400x60xi64>) -> tensor<400x60xf32>
  %1 = prim.scatter %x, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<19200xf32>, tensor<400x60xi64>, tensor<400x60xf32>) -> tensor<19200xf32>
  %2 = prim.scatter %x, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind set>} : (tensor<19200xf32>, tensor<400x60xi64>, tensor<400x60xf32>) -> tensor<19200xf32>
  %3 = prim.scatter %y, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind max>} : (tensor<25600xf32>, tensor<400x60xi64>, tensor<400x60xf32>) -> tensor<25600xf32>
  %4 = prim.scatter %rows, %i, %v {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<19200x2xf32>, tensor<400x60xi64>, tensor<400x60x2xf32>) -> tensor<19200x2xf32>
  return %0, %1, %2, %3, %4 : tensor<400x60xf32>, tensor<19200xf32>, tensor<19200xf32>, tensor<25600xf32>, tensor<19200x2xf32>
}

// Nobody else reports places out of range, or a line has more of them than a block sorts: by the indices themselves.
// CHECK-LABEL: @no_lines
// CHECK: prim.sort {{.*}} : (tensor<24000xi64>)
// CHECK: prim.sort {{.*}} : (tensor<57000xi64>)
func.func @no_lines(%x: tensor<19200xf32>, %place: tensor<60x400xi64>, %u: tensor<60x400xf32>, %order: tensor<3x20000xf32>, %y: tensor<60000xf32>, %v: tensor<3x19000xf32>) -> (tensor<19200xf32>, tensor<60000xf32>) {
  %zero = prim.constant dense<0> : tensor<60x400xi64>
  %extent = prim.constant dense<300> : tensor<60x400xi64>
  %none = prim.constant dense<-1> : tensor<60x400xi64>
  %low = prim.compare ge %place, %zero : (tensor<60x400xi64>, tensor<60x400xi64>) -> tensor<60x400xi1>
  %high = prim.compare lt %place, %extent : (tensor<60x400xi64>, tensor<60x400xi64>) -> tensor<60x400xi1>
  %both = prim.and %low, %high : (tensor<60x400xi1>, tensor<60x400xi1>) -> tensor<60x400xi1>
  %row = prim.iota {dimension = 0 : i64} : () -> tensor<60x400xi64>
  %line = prim.mul %row, %extent : (tensor<60x400xi64>, tensor<60x400xi64>) -> tensor<60x400xi64>
  %flat = prim.add %place, %line : (tensor<60x400xi64>, tensor<60x400xi64>) -> tensor<60x400xi64>
  %i = prim.select %both, %flat, %none : (tensor<60x400xi1>, tensor<60x400xi64>, tensor<60x400xi64>) -> tensor<60x400xi64>
  %0 = prim.scatter %x, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<19200xf32>, tensor<60x400xi64>, tensor<60x400xf32>) -> tensor<19200xf32>
  %sorted, %places = prim.sort %order {dimension = 1 : i64, descending = false, range = array<i64: 0, 19000>} : (tensor<3x20000xf32>) -> (tensor<3x19000xf32>, tensor<3x19000xi64>)
  %20000 = prim.constant dense<20000> : tensor<3x19000xi64>
  %lines = prim.iota {dimension = 0 : i64} : () -> tensor<3x19000xi64>
  %1 = prim.mul %lines, %20000 : (tensor<3x19000xi64>, tensor<3x19000xi64>) -> tensor<3x19000xi64>
  %2 = prim.add %places, %1 : (tensor<3x19000xi64>, tensor<3x19000xi64>) -> tensor<3x19000xi64>
  %3 = prim.scatter %y, %2, %v {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<60000xf32>, tensor<3x19000xi64>, tensor<3x19000xf32>) -> tensor<60000xf32>
  return %0, %3 : tensor<19200xf32>, tensor<60000xf32>
}

// As few indices are sorted where many rows before the axis would look through them.
// CHECK-LABEL: @before_the_axis
// CHECK: prim.sort {{.*}} : (tensor<8000xi64>)
// CHECK-NOT: prim.sort
// CHECK: prim.scatter %arg1, %arg2
func.func @before_the_axis(%x: tensor<8x40000xf32>, %y: tensor<1x40000xf32>, %i: tensor<8000xi64>, %u: tensor<8x8000xf32>, %v: tensor<1x8000xf32>) -> (tensor<8x40000xf32>, tensor<1x40000xf32>) {
  %0 = prim.scatter %x, %i, %u {axis = 1 : i64, kind = #prim<scatter_kind add>} : (tensor<8x40000xf32>, tensor<8000xi64>, tensor<8x8000xf32>) -> tensor<8x40000xf32>
  %1 = prim.scatter %y, %i, %v {axis = 1 : i64, kind = #prim<scatter_kind add>} : (tensor<1x40000xf32>, tensor<8000xi64>, tensor<1x8000xf32>) -> tensor<1x40000xf32>
  return %0, %1 : tensor<8x40000xf32>, tensor<1x40000xf32>
}

// Looking through the indices of a batch of words is sooner done than sorting them.
// CHECK-LABEL: @words
// CHECK-NEXT: prim.scatter %arg0, %arg1, %arg2 {axis = 0 : i64, kind = #prim<scatter_kind add>}
func.func @words(%x: tensor<50257x2xf32>, %i: tensor<8x1024xi64>, %u: tensor<8x1024x2xf32>) -> tensor<50257x2xf32> {
  %0 = prim.scatter %x, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<50257x2xf32>, tensor<8x1024xi64>, tensor<8x1024x2xf32>) -> tensor<50257x2xf32>
  return %0 : tensor<50257x2xf32>
}

// Rows that a sort put in order, and columns of lines; offsets of lines as constants; rows as lines with the same places.
// CHECK-LABEL: @permutations
// CHECK-COUNT-5: unique_indices
// CHECK-NOT: prim.sort
// CPU-LABEL: @permutations
// CPU-COUNT-5: unique_indices
func.func @permutations(%keys: tensor<3000xf32>, %x: tensor<3000x2xf32>, %lines: tensor<4x30x5xf32>, %noise: tensor<4x30xf32>, %u: tensor<600xf32>, %y: tensor<600xf32>) -> (tensor<3000x2xf32>, tensor<600xf32>, tensor<600xf32>, tensor<600xf32>, tensor<600xf32>) {
  %values, %order = prim.sort %keys {dimension = 0 : i64, descending = true} : (tensor<3000xf32>) -> (tensor<3000xf32>, tensor<3000xi64>)
  %0 = prim.scatter %x, %order, %x {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<3000x2xf32>, tensor<3000xi64>, tensor<3000x2xf32>) -> tensor<3000x2xf32>
  %sorted, %places = prim.sort %lines {dimension = 1 : i64, descending = false} : (tensor<4x30x5xf32>) -> (tensor<4x30x5xf32>, tensor<4x30x5xi64>)
  %five = prim.constant dense<5> : tensor<4x30x5xi64>
  %many = prim.constant dense<150> : tensor<4x30x5xi64>
  %l = prim.iota {dimension = 0 : i64} : () -> tensor<4x30x5xi64>
  %c = prim.iota {dimension = 2 : i64} : () -> tensor<4x30x5xi64>
  %1 = prim.mul %places, %five : (tensor<4x30x5xi64>, tensor<4x30x5xi64>) -> tensor<4x30x5xi64>
  %2 = prim.mul %l, %many : (tensor<4x30x5xi64>, tensor<4x30x5xi64>) -> tensor<4x30x5xi64>
  %3 = prim.add %1, %2 : (tensor<4x30x5xi64>, tensor<4x30x5xi64>) -> tensor<4x30x5xi64>
  %4 = prim.add %3, %c : (tensor<4x30x5xi64>, tensor<4x30x5xi64>) -> tensor<4x30x5xi64>
  %5 = prim.reshape %4 : (tensor<4x30x5xi64>) -> tensor<600xi64>
  %6 = prim.scatter %y, %5, %u {axis = 0 : i64, kind = #prim<scatter_kind set>} : (tensor<600xf32>, tensor<600xi64>, tensor<600xf32>) -> tensor<600xf32>
  %7 = prim.scatter %y, %5, %u {axis = 0 : i64, kind = #prim<scatter_kind max>} : (tensor<600xf32>, tensor<600xi64>, tensor<600xf32>) -> tensor<600xf32>
  %offsets = prim.constant dense<[[[0, 1, 2, 3, 4]], [[150, 151, 152, 153, 154]], [[300, 301, 302, 303, 304]], [[450, 451, 452, 453, 454]]]> : tensor<4x1x5xi64>
  %8 = prim.broadcast %offsets {dimensions = array<i64: 0, 1, 2>} : (tensor<4x1x5xi64>) -> tensor<4x30x5xi64>
  %9 = prim.add %1, %8 : (tensor<4x30x5xi64>, tensor<4x30x5xi64>) -> tensor<4x30x5xi64>
  %10 = prim.reshape %9 : (tensor<4x30x5xi64>) -> tensor<600xi64>
  %11 = prim.scatter %y, %10, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<600xf32>, tensor<600xi64>, tensor<600xf32>) -> tensor<600xf32>
  %ordered, %rows = prim.sort %noise {dimension = 1 : i64, descending = false} : (tensor<4x30xf32>) -> (tensor<4x30xf32>, tensor<4x30xi64>)
  %row = prim.broadcast %rows {dimensions = array<i64: 0, 1>} : (tensor<4x30xi64>) -> tensor<4x30x5xi64>
  %12 = prim.mul %row, %five : (tensor<4x30x5xi64>, tensor<4x30x5xi64>) -> tensor<4x30x5xi64>
  %13 = prim.add %12, %8 : (tensor<4x30x5xi64>, tensor<4x30x5xi64>) -> tensor<4x30x5xi64>
  %14 = prim.reshape %13 : (tensor<4x30x5xi64>) -> tensor<600xi64>
  %15 = prim.scatter %y, %14, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<600xf32>, tensor<600xi64>, tensor<600xf32>) -> tensor<600xf32>
  return %0, %6, %7, %11, %15 : tensor<3000x2xf32>, tensor<600xf32>, tensor<600xf32>, tensor<600xf32>, tensor<600xf32>
}

// A part of sorted lines; lines along one dimension of which another counts; as many places in fewer lines; offsets of
// which one is another line's; one place, repeated; an index of one line, repeated.
// CHECK-LABEL: @no_permutations
// CHECK-NOT: unique_indices
// CHECK: return
func.func @no_permutations(%s: tensor<10x10xf32>, %t: tensor<20x5xf32>, %u: tensor<10x5xf32>, %v: tensor<10x10xf32>, %w: tensor<20x5xf32>, %x: tensor<100xf32>, %one: tensor<100x1xf32>, %twice: tensor<100x2xf32>) -> (tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>) {
  %ten = prim.constant dense<10> : tensor<10x5xi64>
  %also = prim.constant dense<10> : tensor<10x10xi64>
  %five = prim.constant dense<5> : tensor<20x5xi64>
  %best, %first = prim.sort %s {dimension = 1 : i64, descending = true, range = array<i64: 0, 5>} : (tensor<10x10xf32>) -> (tensor<10x5xf32>, tensor<10x5xi64>)
  %l = prim.iota {dimension = 0 : i64} : () -> tensor<10x5xi64>
  %0 = prim.mul %l, %ten : (tensor<10x5xi64>, tensor<10x5xi64>) -> tensor<10x5xi64>
  %1 = prim.add %first, %0 : (tensor<10x5xi64>, tensor<10x5xi64>) -> tensor<10x5xi64>
  %2 = prim.scatter %x, %1, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<100xf32>, tensor<10x5xi64>, tensor<10x5xf32>) -> tensor<100xf32>
  %sorted, %order = prim.sort %s {dimension = 0 : i64, descending = true} : (tensor<10x10xf32>) -> (tensor<10x10xf32>, tensor<10x10xi64>)
  %row = prim.iota {dimension = 0 : i64} : () -> tensor<10x10xi64>
  %3 = prim.mul %row, %also : (tensor<10x10xi64>, tensor<10x10xi64>) -> tensor<10x10xi64>
  %4 = prim.add %order, %3 : (tensor<10x10xi64>, tensor<10x10xi64>) -> tensor<10x10xi64>
  %5 = prim.scatter %x, %4, %v {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<100xf32>, tensor<10x10xi64>, tensor<10x10xf32>) -> tensor<100xf32>
  %ordered, %places = prim.sort %t {dimension = 1 : i64, descending = true} : (tensor<20x5xf32>) -> (tensor<20x5xf32>, tensor<20x5xi64>)
  %half = prim.iota {dimension = 1 : i64} : () -> tensor<20x5xi64>
  %6 = prim.mul %half, %five : (tensor<20x5xi64>, tensor<20x5xi64>) -> tensor<20x5xi64>
  %7 = prim.add %places, %6 : (tensor<20x5xi64>, tensor<20x5xi64>) -> tensor<20x5xi64>
  %8 = prim.scatter %x, %7, %w {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<100xf32>, tensor<20x5xi64>, tensor<20x5xf32>) -> tensor<100xf32>
  %offsets = prim.constant dense<[[0], [5], [10], [15], [20], [25], [30], [35], [40], [45], [50], [55], [60], [65], [70], [75], [80], [85], [90], [90]]> : tensor<20x1xi64>
  %9 = prim.broadcast %offsets {dimensions = array<i64: 0, 1>} : (tensor<20x1xi64>) -> tensor<20x5xi64>
  %10 = prim.add %places, %9 : (tensor<20x5xi64>, tensor<20x5xi64>) -> tensor<20x5xi64>
  %11 = prim.scatter %x, %10, %w {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<100xf32>, tensor<20x5xi64>, tensor<20x5xf32>) -> tensor<100xf32>
  %only, %zero = prim.sort %one {dimension = 1 : i64, descending = false} : (tensor<100x1xf32>) -> (tensor<100x1xf32>, tensor<100x1xi64>)
  %12 = prim.broadcast %zero {dimensions = array<i64: 0, 1>} : (tensor<100x1xi64>) -> tensor<100x2xi64>
  %hundred = prim.iota {dimension = 0 : i64} : () -> tensor<100x2xi64>
  %13 = prim.add %12, %hundred : (tensor<100x2xi64>, tensor<100x2xi64>) -> tensor<100x2xi64>
  %14 = prim.scatter %x, %13, %twice {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<100xf32>, tensor<100x2xi64>, tensor<100x2xf32>) -> tensor<100xf32>
  %first_line = prim.iota {dimension = 0 : i64} : () -> tensor<1x5xi64>
  %15 = prim.broadcast %first_line {dimensions = array<i64: 0, 1>} : (tensor<1x5xi64>) -> tensor<20x5xi64>
  %16 = prim.mul %15, %five : (tensor<20x5xi64>, tensor<20x5xi64>) -> tensor<20x5xi64>
  %17 = prim.add %places, %16 : (tensor<20x5xi64>, tensor<20x5xi64>) -> tensor<20x5xi64>
  %18 = prim.scatter %x, %17, %w {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<100xf32>, tensor<20x5xi64>, tensor<20x5xf32>) -> tensor<100xf32>
  return %2, %5, %8, %11, %14, %18 : tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>
}
