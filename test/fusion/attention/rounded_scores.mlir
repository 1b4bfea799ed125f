// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --recognize-attention | FileCheck %s
// RUN: accc-opt %s --recognize-attention=widen-scores=true | FileCheck %s --check-prefix=WIDE
// Attentions of 16-bit floats, whose scores nn.attention keeps in f32.

// Scores in f32 all the way, the softmax rounded once: what nn.attention does.
// CHECK-LABEL: @wide_scores
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 {causal = false, scale = 2.500000e-01 : f64}
// CHECK-NEXT: return
// WIDE-LABEL: @wide_scores
// WIDE-NEXT: nn.attention %arg0, %arg1, %arg2 {causal = false, scale = 2.500000e-01 : f64}
// WIDE-NEXT: return
func.func @wide_scores(%q: tensor<2x2x4x3xbf16>, %k: tensor<2x2x4x3xbf16>, %v: tensor<2x2x4x3xbf16>) -> tensor<2x2x4x3xbf16> {
  %s0 = prim.dot_general %q, %k {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 3>, wide_result} : (tensor<2x2x4x3xbf16>, tensor<2x2x4x3xbf16>) -> tensor<2x2x4x4xf32>
  %c = prim.constant dense<0.25> : tensor<2x2x4x4xf32>
  %s = prim.mul %s0, %c : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p32 = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = prim.convert %p32 : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xbf16>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xbf16>, tensor<2x2x4x3xbf16>) -> tensor<2x2x4x3xbf16>
  return %y : tensor<2x2x4x3xbf16>
}

// The product rounds its scores, and so does the scale.
// CHECK-LABEL: @rounded_scores
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
// WIDE-LABEL: @rounded_scores
// WIDE-NEXT: nn.attention %arg0, %arg1, %arg2 {causal = false, scale = 2.500000e-01 : f64}
// WIDE-NEXT: return
func.func @rounded_scores(%q: tensor<2x2x4x3xbf16>, %k: tensor<2x2x4x3xbf16>, %v: tensor<2x2x4x3xbf16>) -> tensor<2x2x4x3xbf16> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xbf16>) -> tensor<2x2x3x4xbf16>
  %sb = nn.matmul %q, %kt : (tensor<2x2x4x3xbf16>, tensor<2x2x3x4xbf16>) -> tensor<2x2x4x4xbf16>
  %s0 = prim.convert %sb : (tensor<2x2x4x4xbf16>) -> tensor<2x2x4x4xf32>
  %c = prim.constant dense<0.25> : tensor<2x2x4x4xf32>
  %s1 = prim.mul %s0, %c : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s2 = prim.convert %s1 : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xbf16>
  %s = prim.convert %s2 : (tensor<2x2x4x4xbf16>) -> tensor<2x2x4x4xf32>
  %p32 = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %p = prim.convert %p32 : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xbf16>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xbf16>, tensor<2x2x4x3xbf16>) -> tensor<2x2x4x3xbf16>
  return %y : tensor<2x2x4x3xbf16>
}

// As exporters write it: a mask, and the guard.
// CHECK-LABEL: @rounded_and_masked
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
// WIDE-LABEL: @rounded_and_masked
// WIDE-NEXT: nn.attention %arg0, %arg1, %arg2 {causal = true, scale = 1.000000e+00 : f64}
// WIDE-NEXT: return
func.func @rounded_and_masked(%q: tensor<2x2x4x3xbf16>, %k: tensor<2x2x4x3xbf16>, %v: tensor<2x2x4x3xbf16>) -> tensor<2x2x4x3xbf16> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xbf16>) -> tensor<2x2x3x4xbf16>
  %sb = nn.matmul %q, %kt : (tensor<2x2x4x3xbf16>, tensor<2x2x3x4xbf16>) -> tensor<2x2x4x4xbf16>
  %s0 = prim.convert %sb : (tensor<2x2x4x4xbf16>) -> tensor<2x2x4x4xf32>
  %m = prim.constant dense<[[0.0, 0xFF7F, 0xFF7F, 0xFF7F], [0.0, 0.0, 0xFF7F, 0xFF7F], [0.0, 0.0, 0.0, 0xFF7F], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xbf16>
  %mb = prim.broadcast %m {dimensions = array<i64: 2, 3>} : (tensor<4x4xbf16>) -> tensor<2x2x4x4xbf16>
  %ms = prim.convert %mb : (tensor<2x2x4x4xbf16>) -> tensor<2x2x4x4xf32>
  %s1 = prim.add %s0, %ms : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %s2 = prim.convert %s1 : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xbf16>
  %s = prim.convert %s2 : (tensor<2x2x4x4xbf16>) -> tensor<2x2x4x4xf32>
  %p32 = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %pb = prim.convert %p32 : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xbf16>
  %pw = prim.convert %pb : (tensor<2x2x4x4xbf16>) -> tensor<2x2x4x4xf32>
  %isnan = prim.compare ne %pw, %pw : (tensor<2x2x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xi1>
  %z = prim.constant dense<0.0> : tensor<2x2x4x4xbf16>
  %p = prim.select %isnan, %z, %pb : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xbf16>, tensor<2x2x4x4xbf16>) -> tensor<2x2x4x4xbf16>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xbf16>, tensor<2x2x4x3xbf16>) -> tensor<2x2x4x3xbf16>
  return %y : tensor<2x2x4x3xbf16>
}

// CHECK-LABEL: @rounded_softmax
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
// WIDE-LABEL: @rounded_softmax
// WIDE-NEXT: nn.attention %arg0, %arg1, %arg2 {causal = false, scale = 1.000000e+00 : f64}
// WIDE-NEXT: return
func.func @rounded_softmax(%q: tensor<2x2x4x3xbf16>, %k: tensor<2x2x4x3xbf16>, %v: tensor<2x2x4x3xbf16>) -> tensor<2x2x4x3xbf16> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x3xbf16>) -> tensor<2x2x3x4xbf16>
  %s = nn.matmul %q, %kt : (tensor<2x2x4x3xbf16>, tensor<2x2x3x4xbf16>) -> tensor<2x2x4x4xbf16>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xbf16>) -> tensor<2x2x4x4xbf16>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xbf16>, tensor<2x2x4x3xbf16>) -> tensor<2x2x4x3xbf16>
  return %y : tensor<2x2x4x3xbf16>
}

// nn.attention would round the weights.
// CHECK-LABEL: @unrounded_weights
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// CHECK: return
// WIDE-LABEL: @unrounded_weights
// WIDE-NOT: nn.attention
// WIDE: nn.softmax
func.func @unrounded_weights(%q: tensor<2x2x4x3xbf16>, %k: tensor<2x2x4x3xbf16>, %v: tensor<2x2x4x3xbf16>) -> tensor<2x2x4x3xf32> {
  %s = prim.dot_general %q, %k {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64: 3>, wide_result} : (tensor<2x2x4x3xbf16>, tensor<2x2x4x3xbf16>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %vw = prim.convert %v : (tensor<2x2x4x3xbf16>) -> tensor<2x2x4x3xf32>
  %y = nn.matmul %p, %vw : (tensor<2x2x4x4xf32>, tensor<2x2x4x3xf32>) -> tensor<2x2x4x3xf32>
  return %y : tensor<2x2x4x3xf32>
}

// Scores of f16 reach the lowest of them: the mask stays.
// CHECK-LABEL: @lowest_f16
// CHECK: nn.attention %{{.*}} mask %{{.*}} {causal = false
func.func @lowest_f16(%q: tensor<2x2x4x3xf16>) -> tensor<2x2x4x3xf16> {
  %m = prim.constant dense<[[0.0, 0xFBFF, 0xFBFF, 0xFBFF], [0.0, 0.0, 0xFBFF, 0xFBFF], [0.0, 0.0, 0.0, 0xFBFF], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf16>
  %y = nn.attention %q, %q, %q mask %m {causal = false, scale = 1.0 : f64} : (tensor<2x2x4x3xf16>, tensor<2x2x4x3xf16>, tensor<2x2x4x3xf16>, tensor<4x4xf16>) -> tensor<2x2x4x3xf16>
  return %y : tensor<2x2x4x3xf16>
}
