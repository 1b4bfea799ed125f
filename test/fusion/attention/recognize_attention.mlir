// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --recognize-attention | FileCheck %s
// Attentions of 32-bit floats, and what is none.

// CHECK-LABEL: @scaled
// CHECK-NEXT: %[[Y:.*]] = nn.attention %arg0, %arg1, %arg2 {causal = false, scale = 2.500000e-01 : f64}
// CHECK-NEXT: return %[[Y]]
func.func @scaled(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %c = prim.constant dense<0.25> : tensor<f32>
  %cs = prim.broadcast %c {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x2x4x4xf32>
  %s = prim.mul %s0, %cs : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @divided
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 {causal = false, scale = 5.000000e-01 : f64}
// CHECK-NEXT: return
func.func @divided(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %c = prim.constant dense<2.0> : tensor<2x2x4x4xf32>
  %s = prim.div %s0, %c : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// Batch and heads in one dimension; the products read their factors in any order.
// CHECK-LABEL: @merged_heads
// CHECK-NEXT: %[[Q:.*]] = prim.reshape %arg0 : (tensor<6x4x3xf32>) -> tensor<6x1x4x3xf32>
// CHECK-NEXT: %[[KT:.*]] = prim.transpose %arg1 {permutation = array<i64: 1, 2, 0>} : (tensor<3x6x5xf32>) -> tensor<6x5x3xf32>
// CHECK-NEXT: %[[K:.*]] = prim.reshape %[[KT]] : (tensor<6x5x3xf32>) -> tensor<6x1x5x3xf32>
// CHECK-NEXT: %[[V:.*]] = prim.reshape %arg2 : (tensor<6x5x2xf32>) -> tensor<6x1x5x2xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.attention %[[Q]], %[[K]], %[[V]] {causal = false, scale = 1.000000e+00 : f64}
// CHECK-NEXT: %[[R:.*]] = prim.reshape %[[Y]] : (tensor<6x1x4x2xf32>) -> tensor<6x4x2xf32>
// CHECK-NEXT: return %[[R]]
func.func @merged_heads(%q: tensor<6x4x3xf32>, %k: tensor<3x6x5xf32>, %v: tensor<6x5x2xf32>) -> tensor<6x4x2xf32> {
  %s = prim.dot_general %q, %k {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<6x4x3xf32>, tensor<3x6x5xf32>) -> tensor<6x4x5xf32>
  %p = nn.softmax %s {dimension = 2 : i64} : (tensor<6x4x5xf32>) -> tensor<6x4x5xf32>
  %y = prim.dot_general %p, %v {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>} : (tensor<6x4x5xf32>, tensor<6x5x2xf32>) -> tensor<6x4x2xf32>
  return %y : tensor<6x4x2xf32>
}

// CHECK-LABEL: @values_first
// CHECK-NEXT: %[[Y:.*]] = nn.attention %arg0, %arg1, %arg2
// CHECK-NEXT: %[[T:.*]] = prim.transpose %[[Y]] {permutation = array<i64: 0, 1, 3, 2>}
// CHECK-NEXT: return %[[T]]
func.func @values_first(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  
  %p = nn.softmax %s0 {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = prim.dot_general %v, %p {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 3>} : (tensor<2x2x4x3xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// Factors of both operands, a transpose of merged matrices, a float mask of all heads.
// CHECK-LABEL: @exported
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 {causal = true, scale = 2.500000e-01 : f64}
// CHECK-NEXT: return
func.func @exported(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %k3 = prim.reshape %k : (tensor<2x2x4x3xf32>) -> tensor<4x4x3xf32>
  %kt3 = prim.transpose %k3 {permutation = array<i64: 0, 2, 1>} : (tensor<4x4x3xf32>) -> tensor<4x3x4xf32>
  %kt = prim.reshape %kt3 : (tensor<4x3x4xf32>) -> tensor<2x2x3x4xf32>
  %c = prim.constant dense<0.5> : tensor<2x2x4x3xf32>
  %qs = prim.mul %q, %c : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  %ct = prim.constant dense<0.5> : tensor<2x2x3x4xf32>
  %ks = prim.mul %ct, %kt : (tensor<2x2x3x4xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %qs, %ks : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %m = prim.constant dense<[[0.0, -3.40282347E+38, -3.40282347E+38, -3.40282347E+38], [0.0, 0.0, -3.40282347E+38, -3.40282347E+38], [0.0, 0.0, 0.0, -3.40282347E+38], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %ms = prim.broadcast %m {dimensions = array<i64: 2, 3>} : (tensor<4x4xf32>) -> tensor<2x2x4x4xf32>
  %s = prim.add %s0, %ms : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// A mask of data is added as it is, before its repetition.
// CHECK-LABEL: @float_mask
// CHECK-NEXT: %[[M:.*]] = prim.reshape %arg3 : (tensor<2x4xf32>) -> tensor<2x1x1x4xf32>
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 mask %[[M]] {causal = false
// CHECK-NEXT: return
func.func @float_mask(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>, %m: tensor<2x4xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %ms = prim.broadcast %m {dimensions = array<i64: 0, 3>} : (tensor<2x4xf32>) -> tensor<2x2x4x4xf32>
  %s = prim.add %ms, %s0 : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// A query that may look nowhere gives 0 either way.
// CHECK-LABEL: @chosen
// CHECK-NEXT: %[[M:.*]] = prim.reshape %arg3 : (tensor<2x4xi1>) -> tensor<2x1x1x4xi1>
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 mask %[[M]] {causal = false
// CHECK-NEXT: return
func.func @chosen(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>, %m: tensor<2x4xi1>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %ms = prim.broadcast %m {dimensions = array<i64: 0, 3>} : (tensor<2x4xi1>) -> tensor<2x2x4x4xi1>
  %low = prim.constant dense<0xFF800000> : tensor<2x2x4x4xf32>
  %s = prim.select %ms, %s0, %low : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @hidden
// CHECK-NEXT: %[[M:.*]] = prim.reshape %arg3 : (tensor<2x4xi1>) -> tensor<2x1x1x4xi1>
// CHECK-NEXT: %[[N:.*]] = prim.not %[[M]]
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 mask %[[N]] {causal = false
// CHECK-NEXT: return
func.func @hidden(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>, %m: tensor<2x4xi1>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %ms = prim.broadcast %m {dimensions = array<i64: 0, 3>} : (tensor<2x4xi1>) -> tensor<2x2x4x4xi1>
  %low = prim.constant dense<0xFF800000> : tensor<2x2x4x4xf32>
  %s = prim.select %ms, %low, %s0 : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// A row of lowest numbers looks everywhere, so they stay numbers.
// CHECK-LABEL: @chosen_lowest
// CHECK: %[[M:.*]] = prim.reshape %arg3
// CHECK: %[[F:.*]] = prim.select %[[M]]
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 mask %[[F]] {causal = false
// CHECK-NEXT: return
func.func @chosen_lowest(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>, %m: tensor<2x4xi1>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %ms = prim.broadcast %m {dimensions = array<i64: 0, 3>} : (tensor<2x4xi1>) -> tensor<2x2x4x4xi1>
  %low = prim.constant dense<-3.40282347E+38> : tensor<2x2x4x4xf32>
  %s = prim.select %ms, %s0, %low : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @chosen_triangle
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 {causal = true
// CHECK-NEXT: return
func.func @chosen_triangle(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %t = prim.constant dense<[[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]> : tensor<4x4xi1>
  %ts = prim.broadcast %t {dimensions = array<i64: 2, 3>} : (tensor<4x4xi1>) -> tensor<2x2x4x4xi1>
  %low = prim.constant dense<-3.40282347E+38> : tensor<2x2x4x4xf32>
  %s = prim.select %ts, %s0, %low : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// Every query sees a key: a low number is -inf.
// CHECK-LABEL: @chosen_band
// CHECK: %[[T:.*]] = prim.constant dense<{{.*}}> : tensor<4x4xi1>
// CHECK: %[[M:.*]] = prim.reshape %[[T]]
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 mask %[[M]] {causal = false
// CHECK-NEXT: return
func.func @chosen_band(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %t = prim.constant dense<[[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]> : tensor<4x4xi1>
  %ts = prim.broadcast %t {dimensions = array<i64: 2, 3>} : (tensor<4x4xi1>) -> tensor<2x2x4x4xi1>
  %low = prim.constant dense<-3.40282347E+38> : tensor<2x2x4x4xf32>
  %s = prim.select %ts, %s0, %low : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// The first query looks nowhere and gives 0.
// CHECK-LABEL: @row_hidden
// CHECK: nn.attention %arg0, %arg1, %arg2 mask %{{.*}} {causal = false{{.*}}, tensor<1x1x4x4xi1>)
// CHECK-NEXT: return
func.func @row_hidden(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %t = prim.constant dense<[[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]> : tensor<4x4xi1>
  %ts = prim.broadcast %t {dimensions = array<i64: 2, 3>} : (tensor<4x4xi1>) -> tensor<2x2x4x4xi1>
  %low = prim.constant dense<0xFF800000> : tensor<2x2x4x4xf32>
  %s = prim.select %ts, %s0, %low : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// The first query looks everywhere.
// CHECK-LABEL: @row_of_lowest
// CHECK: nn.attention %arg0, %arg1, %arg2 mask %{{.*}} {causal = false{{.*}}, tensor<1x1x4x4xf32>)
// CHECK-NEXT: return
func.func @row_of_lowest(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %t = prim.constant dense<[[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]> : tensor<4x4xi1>
  %ts = prim.broadcast %t {dimensions = array<i64: 2, 3>} : (tensor<4x4xi1>) -> tensor<2x2x4x4xi1>
  %low = prim.constant dense<-3.40282347E+38> : tensor<2x2x4x4xf32>
  %s = prim.select %ts, %s0, %low : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @triangle_and_data
// CHECK: %[[M:.*]] = prim.reshape %arg3
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 mask %[[M]] {causal = true
// CHECK-NEXT: return
func.func @triangle_and_data(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>, %m: tensor<2x4xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %t = prim.constant dense<[[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]> : tensor<4x4xi1>
  %ts = prim.broadcast %t {dimensions = array<i64: 2, 3>} : (tensor<4x4xi1>) -> tensor<2x2x4x4xi1>
  %low = prim.constant dense<0xFF800000> : tensor<2x2x4x4xf32>
  %s1 = prim.select %ts, %s0, %low : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %ms = prim.broadcast %m {dimensions = array<i64: 0, 3>} : (tensor<2x4xf32>) -> tensor<2x2x4x4xf32>
  %s = prim.add %s1, %ms : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// Where the data hides what the triangle shows, the lowest number looks at what it hides.
// CHECK-LABEL: @triangle_of_numbers_and_data
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
func.func @triangle_of_numbers_and_data(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>, %m: tensor<2x4xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %t = prim.constant dense<[[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]> : tensor<4x4xi1>
  %ts = prim.broadcast %t {dimensions = array<i64: 2, 3>} : (tensor<4x4xi1>) -> tensor<2x2x4x4xi1>
  %low = prim.constant dense<-3.40282347E+38> : tensor<2x2x4x4xf32>
  %s1 = prim.select %ts, %s0, %low : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %ms = prim.broadcast %m {dimensions = array<i64: 0, 3>} : (tensor<2x4xf32>) -> tensor<2x2x4x4xf32>
  %s = prim.add %s1, %ms : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// The model's triangle, and the library's added to it: each hides what the other does.
// CHECK-LABEL: @two_triangles
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 {causal = true
// CHECK-NEXT: return
func.func @two_triangles(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %t = prim.constant dense<[[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]> : tensor<4x4xi1>
  %ts = prim.broadcast %t {dimensions = array<i64: 2, 3>} : (tensor<4x4xi1>) -> tensor<2x2x4x4xi1>
  %low = prim.constant dense<-3.40282347E+38> : tensor<2x2x4x4xf32>
  %s1 = prim.select %ts, %s0, %low : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %zero = prim.constant dense<0.0> : tensor<2x2x4x4xf32>
  %m = prim.select %ts, %zero, %low : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s = prim.add %s1, %m : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @two_masks
// CHECK: %[[M:.*]] = prim.add
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 mask %[[M]] {causal = false
// CHECK-NEXT: return
func.func @two_masks(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>, %m: tensor<2x4xf32>, %bias: tensor<2x2x4x4xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %s1 = prim.add %s0, %bias : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %ms = prim.broadcast %m {dimensions = array<i64: 0, 3>} : (tensor<2x4xf32>) -> tensor<2x2x4x4xf32>
  %s = prim.add %s1, %ms : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// Scores in three dimensions, masked in four.
// CHECK-LABEL: @other_shapes
// CHECK-NEXT: %[[Q:.*]] = prim.reshape %arg0 : (tensor<4x4x3xf32>) -> tensor<2x2x4x3xf32>
// CHECK-NEXT: %[[K:.*]] = prim.reshape %arg1
// CHECK-NEXT: %[[V:.*]] = prim.reshape %arg2
// CHECK-NEXT: %[[M:.*]] = prim.reshape %arg3 : (tensor<2x4xf32>) -> tensor<2x1x1x4xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.attention %[[Q]], %[[K]], %[[V]] mask %[[M]]
// CHECK-NEXT: prim.reshape %[[Y]] : (tensor<2x2x4x3xf32>) -> tensor<4x4x3xf32>
// CHECK-NEXT: return
func.func @other_shapes(%q: tensor<4x4x3xf32>, %k: tensor<4x4x3xf32>, %v: tensor<4x4x3xf32>, %m: tensor<2x4xf32>) -> tensor<4x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<4x4x3xf32>) -> tensor<4x3x4xf32>
  %s3 = nn.matmul %q, %kt : (tensor<4x4x3xf32>, tensor<4x3x4xf32>) -> tensor<4x4x4xf32>
  %s4 = prim.reshape %s3 : (tensor<4x4x4xf32>) -> tensor<2x2x4x4xf32>
  %ms = prim.broadcast %m {dimensions = array<i64: 0, 3>} : (tensor<2x4xf32>) -> tensor<2x2x4x4xf32>
  %sm = prim.add %s4, %ms : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s = prim.reshape %sm : (tensor<2x2x4x4xf32>) -> tensor<4x4x4xf32>
  %p = nn.softmax %s {dimension = 2 : i64} : (tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<4x4x4xf32>, tensor<4x4x3xf32>) -> tensor<4x4x3xf32>
  return %y : tensor<4x4x3xf32>
}

// CHECK-LABEL: @guarded
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 {causal = false
// CHECK-NEXT: return
func.func @guarded(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  
  %p = nn.softmax %s0 {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %isnan = prim.compare ne %p, %p : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xi1>
  %z = prim.constant dense<0.0> : tensor<2x2x4x4xf32>
  %g = prim.select %isnan, %z, %p : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %g, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @guarded_by_one
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
func.func @guarded_by_one(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  
  %p = nn.softmax %s0 {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %isnan = prim.compare ne %p, %p : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xi1>
  %z = prim.constant dense<1.0> : tensor<2x2x4x4xf32>
  %g = prim.select %isnan, %z, %p : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %g, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// Keys and values that are repeated for the heads are read once.
// CHECK-LABEL: @shared_heads
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 {causal = false
// CHECK-NEXT: return
func.func @shared_heads(%q: tensor<2x2x4x3xf32>, %k1: tensor<2x1x4x3xf32>, %v1: tensor<2x1x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %k5 = prim.reshape %k1 : (tensor<2x1x4x3xf32>) -> tensor<2x1x1x4x3xf32>
  %kr = prim.broadcast %k5 {dimensions = array<i64: 0, 1, 2, 3, 4>} : (tensor<2x1x1x4x3xf32>) -> tensor<2x1x2x4x3xf32>
  %k = prim.reshape %kr : (tensor<2x1x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  %vr = prim.broadcast %v1 {dimensions = array<i64: 0, 1, 3, 4>} : (tensor<2x1x4x3xf32>) -> tensor<2x1x2x4x3xf32>
  %v = prim.reshape %vr : (tensor<2x1x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  
  %p = nn.softmax %s0 {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @scores_read
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
func.func @scores_read(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  
  %p = nn.softmax %s0 {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y0 = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  %n = prim.reduce sum %s0 {dimensions = array<i64: 3>} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4xf32>
  %ns = prim.broadcast %n {dimensions = array<i64: 0, 1, 2>} : (tensor<2x2x4xf32>) -> tensor<2x2x4x3xf32>
  %y = prim.add %y0, %ns : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @weights_read
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
func.func @weights_read(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  
  %p = nn.softmax %s0 {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y0 = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  %n = prim.reduce sum %p {dimensions = array<i64: 3>} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4xf32>
  %ns = prim.broadcast %n {dimensions = array<i64: 0, 1, 2>} : (tensor<2x2x4xf32>) -> tensor<2x2x4x3xf32>
  %y = prim.add %y0, %ns : (tensor<2x2x4x3xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @over_queries
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
func.func @over_queries(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  
  %p = nn.softmax %s0 {dimension = 2 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// The weights are contracted over the queries.
// CHECK-LABEL: @over_values
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
func.func @over_values(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  
  %p = nn.softmax %s0 {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = prim.dot_general %p, %v {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 2>} : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @scale_of_data
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
func.func @scale_of_data(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>, %c: tensor<f32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %cs = prim.broadcast %c {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x2x4x4xf32>
  %s = prim.mul %s0, %cs : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @scaled_behind_mask
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
func.func @scaled_behind_mask(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>, %m: tensor<2x2x4x4xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %s1 = prim.add %s0, %m : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %c = prim.constant dense<0.25> : tensor<2x2x4x4xf32>
  %s = prim.mul %s1, %c : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// Scores may be as low.
// CHECK-LABEL: @low_number
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
func.func @low_number(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>, %m: tensor<2x4xi1>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  %ms = prim.broadcast %m {dimensions = array<i64: 0, 3>} : (tensor<2x4xi1>) -> tensor<2x2x4x4xi1>
  %low = prim.constant dense<-1.0e4> : tensor<2x2x4x4xf32>
  %s = prim.select %ms, %s0, %low : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// CHECK-LABEL: @full_precision
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
func.func @full_precision(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  
  %p = nn.softmax %s0 {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = prim.dot_general %p, %v {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 2>, full_precision} : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// Something is done to the weights.
// CHECK-LABEL: @dropped
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
func.func @dropped(%q: tensor<2x2x4x3xf32>, %k: tensor<2x2x4x3xf32>, %v: tensor<2x2x4x3xf32>, %d: tensor<2x2x4x4xf32>) -> tensor<2x2x4x3xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xf32>) -> tensor<2x2x3x4xf32>
  %s0 = nn.matmul %q, %kt : (tensor<2x2x4x3xf32>, tensor<2x2x3x4xf32>) -> tensor<2x2x4x4xf32>
  
  %p = nn.softmax %s0 {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %pd = prim.mul %p, %d : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %pd, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}
