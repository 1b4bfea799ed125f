// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --recognize-attention | FileCheck %s
// Masks that are computed from constants.

// As transformers computes it, for each sample of a batch.
// CHECK-LABEL: @computed_triangle
// CHECK-NEXT: nn.attention %arg0, %arg0, %arg0 {causal = true
// CHECK-NEXT: return
func.func @computed_triangle(%q: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %true = prim.constant dense<true> : tensor<i1>
  %t = prim.iota {dimension = 2 : i64} : () -> tensor<2x1x4x1xi64>
  %s = prim.constant dense<[[[[0, 1, 2, 3]]], [[[0, 1, 2, 3]]]]> : tensor<2x1x1x4xi64>
  %ts = prim.broadcast %t {dimensions = array<i64: 0, 1, 2, 3>} : (tensor<2x1x4x1xi64>) -> tensor<2x1x4x4xi64>
  %ss = prim.broadcast %s {dimensions = array<i64: 0, 1, 2, 3>} : (tensor<2x1x1x4xi64>) -> tensor<2x1x4x4xi64>
  %le = prim.compare le %ss, %ts : (tensor<2x1x4x4xi64>, tensor<2x1x4x4xi64>) -> tensor<2x1x4x4xi1>
  %all = prim.broadcast %true {dimensions = array<i64>} : (tensor<i1>) -> tensor<2x1x4x4xi1>
  %m = prim.and %all, %le : (tensor<2x1x4x4xi1>, tensor<2x1x4x4xi1>) -> tensor<2x1x4x4xi1>
  %y = nn.attention %q, %q, %q mask %m {causal = false, scale = 1.0 : f64} : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x1x4x4xi1>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// A buffer of more positions, sliced, and numbers chosen by it.
// CHECK-LABEL: @computed_from_slices
// CHECK-NEXT: nn.attention %arg0, %arg0, %arg0 {causal = true
// CHECK-NEXT: return
func.func @computed_from_slices(%q: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %b = prim.constant dense<[[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 1]]> : tensor<6x6xi1>
  %bs = prim.slice %b {limits = array<i64: 4, 4>, starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<6x6xi1>) -> tensor<4x4xi1>
  %z = prim.constant dense<0.0> : tensor<4x4xf32>
  %low = prim.constant dense<0xFF800000> : tensor<4x4xf32>
  %m = prim.select %bs, %z, %low : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = nn.attention %q, %q, %q mask %m {causal = false, scale = 1.0 : f64} : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<4x4xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// The query at t sees keys up to t, however many there are.
// CHECK-LABEL: @other_extents
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg1 {causal = true
func.func @other_extents(%q: tensor<1x1x2x3xf32>, %k: tensor<1x1x4x3xf32>) -> tensor<1x1x2x3xf32> {
  %m = prim.constant dense<[[1, 0, 0, 0], [1, 1, 0, 0]]> : tensor<2x4xi1>
  %y = nn.attention %q, %k, %k mask %m {causal = false, scale = 1.0 : f64} : (tensor<1x1x2x3xf32>, tensor<1x1x4x3xf32>, tensor<1x1x4x3xf32>, tensor<2x4xi1>) -> tensor<1x1x2x3xf32>
  return %y : tensor<1x1x2x3xf32>
}

// Aligned to the last key instead of the first.
// CHECK-LABEL: @last_queries
// CHECK: nn.attention %arg0, %arg1, %arg1 mask %{{.*}} {causal = false
func.func @last_queries(%q: tensor<1x1x2x3xf32>, %k: tensor<1x1x4x3xf32>) -> tensor<1x1x2x3xf32> {
  %m = prim.constant dense<[[1, 1, 1, 0], [1, 1, 1, 1]]> : tensor<2x4xi1>
  %y = nn.attention %q, %k, %k mask %m {causal = false, scale = 1.0 : f64} : (tensor<1x1x2x3xf32>, tensor<1x1x4x3xf32>, tensor<1x1x4x3xf32>, tensor<2x4xi1>) -> tensor<1x1x2x3xf32>
  return %y : tensor<1x1x2x3xf32>
}

// CHECK-LABEL: @all_visible
// CHECK-NEXT: nn.attention %arg0, %arg0, %arg0 {causal = false
// CHECK-NEXT: return
func.func @all_visible(%q: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %m = prim.constant dense<true> : tensor<1x1x4x4xi1>
  %y = nn.attention %q, %q, %q mask %m {causal = false, scale = 1.0 : f64} : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<1x1x4x4xi1>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @zeros
// CHECK-NEXT: nn.attention %arg0, %arg0, %arg0 {causal = false
// CHECK-NEXT: return
func.func @zeros(%q: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %m = prim.constant dense<0.0> : tensor<2x1x1x4xf32>
  %y = nn.attention %q, %q, %q mask %m {causal = false, scale = 1.0 : f64} : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x1x1x4xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @causal_already
// CHECK-NEXT: nn.attention %arg0, %arg0, %arg0 {causal = true
// CHECK-NEXT: return
func.func @causal_already(%q: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %m = prim.constant dense<[[0.0, -3.40282347E+38, -3.40282347E+38, -3.40282347E+38], [0.0, 0.0, -3.40282347E+38, -3.40282347E+38], [0.0, 0.0, 0.0, -3.40282347E+38], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %y = nn.attention %q, %q, %q mask %m {causal = true, scale = 1.0 : f64} : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<4x4xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @one_sample_sees_all
// CHECK: nn.attention %arg0, %arg0, %arg0 mask %{{.*}} {causal = false
// CHECK-NEXT: return
func.func @one_sample_sees_all(%q: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %m = prim.constant dense<[[[[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]], [[[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]]]> : tensor<2x1x4x4xi1>
  %y = nn.attention %q, %q, %q mask %m {causal = false, scale = 1.0 : f64} : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x1x4x4xi1>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// The first query looks nowhere.
// CHECK-LABEL: @diagonal_hidden
// CHECK: nn.attention %arg0, %arg0, %arg0 mask %{{.*}} {causal = false
// CHECK-NEXT: return
func.func @diagonal_hidden(%q: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %m = prim.constant dense<[[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]> : tensor<4x4xi1>
  %y = nn.attention %q, %q, %q mask %m {causal = false, scale = 1.0 : f64} : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<4x4xi1>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// Scores may make up for them.
// CHECK-LABEL: @low_numbers
// CHECK: nn.attention %arg0, %arg0, %arg0 mask %{{.*}} {causal = false
// CHECK-NEXT: return
func.func @low_numbers(%q: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %m = prim.constant dense<[[0.0, -1.0e4, -1.0e4, -1.0e4], [0.0, 0.0, -1.0e4, -1.0e4], [0.0, 0.0, 0.0, -1.0e4], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %y = nn.attention %q, %q, %q mask %m {causal = false, scale = 1.0 : f64} : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<4x4xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// A triangle, but what is seen has a bias.
// CHECK-LABEL: @other_visible_numbers
// CHECK: nn.attention %arg0, %arg0, %arg0 mask %{{.*}} {causal = false
// CHECK-NEXT: return
func.func @other_visible_numbers(%q: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %m = prim.constant dense<[[0.0, 0xFF800000, 0xFF800000, 0xFF800000], [-1.0, 0.0, 0xFF800000, 0xFF800000], [-2.0, -1.0, 0.0, 0xFF800000], [-3.0, -2.0, -1.0, 0.0]]> : tensor<4x4xf32>
  %y = nn.attention %q, %q, %q mask %m {causal = false, scale = 1.0 : f64} : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<4x4xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// What hides nothing goes out of a conjunction.
// CHECK-LABEL: @partly_known
// CHECK-NEXT: %[[M:.*]] = prim.broadcast %arg1
// CHECK-NEXT: nn.attention %arg0, %arg0, %arg0 mask %[[M]] {causal = false
func.func @partly_known(%q: tensor<2x2x4x3xf32>, %d: tensor<2x1x1x4xi1>) -> tensor<2x2x4x3xf32> {
  %ds = prim.broadcast %d {dimensions = array<i64: 0, 1, 2, 3>} : (tensor<2x1x1x4xi1>) -> tensor<2x1x4x4xi1>
  %true = prim.constant dense<true> : tensor<2x1x4x4xi1>
  %m = prim.and %true, %ds : (tensor<2x1x4x4xi1>, tensor<2x1x4x4xi1>) -> tensor<2x1x4x4xi1>
  %y = nn.attention %q, %q, %q mask %m {causal = false, scale = 1.0 : f64} : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x1x4x4xi1>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @triangle_and_data_stays
// CHECK: %[[M:.*]] = prim.and
// CHECK-NEXT: nn.attention %arg0, %arg0, %arg0 mask %[[M]] {causal = false
func.func @triangle_and_data_stays(%q: tensor<2x2x4x3xf32>, %d: tensor<2x1x1x4xi1>) -> tensor<2x2x4x3xf32> {
  %t = prim.constant dense<[[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]> : tensor<4x4xi1>
  %ts = prim.broadcast %t {dimensions = array<i64: 2, 3>} : (tensor<4x4xi1>) -> tensor<2x1x4x4xi1>
  %ds = prim.broadcast %d {dimensions = array<i64: 0, 1, 2, 3>} : (tensor<2x1x1x4xi1>) -> tensor<2x1x4x4xi1>
  %m = prim.and %ts, %ds : (tensor<2x1x4x4xi1>, tensor<2x1x4x4xi1>) -> tensor<2x1x4x4xi1>
  %y = nn.attention %q, %q, %q mask %m {causal = false, scale = 1.0 : f64} : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x1x4x4xi1>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @zeros_and_data
// CHECK-NEXT: nn.attention %arg0, %arg0, %arg0 mask %arg1 {causal = false
func.func @zeros_and_data(%q: tensor<2x2x4x3xf32>, %d: tensor<2x1x1x4xf32>) -> tensor<2x2x4x3xf32> {
  %z = prim.constant dense<0.0> : tensor<2x1x1x4xf32>
  %m = prim.add %d, %z : (tensor<2x1x1x4xf32>, tensor<2x1x1x4xf32>) -> tensor<2x1x1x4xf32>
  %y = nn.attention %q, %q, %q mask %m {causal = false, scale = 1.0 : f64} : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x1x1x4xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// An index out of range stays an error of the run.
// CHECK-LABEL: @failing
// CHECK: nn.attention %arg0, %arg0, %arg0 mask %{{.*}} {causal = false
// CHECK-NEXT: return
func.func @failing(%q: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %w = prim.constant dense<true> : tensor<2x4xi1>
  %i = prim.constant dense<[0, 5, 0, 0]> : tensor<4xi64>
  %m = prim.gather %w, %i {axis = 0 : i64} : (tensor<2x4xi1>, tensor<4xi64>) -> tensor<4x4xi1>
  %y = nn.attention %q, %q, %q mask %m {causal = false, scale = 1.0 : f64} : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>, tensor<4x4xi1>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}
