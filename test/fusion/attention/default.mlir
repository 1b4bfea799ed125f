// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s "--recognize-attention=widen-scores only-unmasked only-half" "--form-attention=only-unmasked only-half" | FileCheck %s
// What a target's library runs whole unless somebody asks for more.

// CHECK-LABEL: @half
// CHECK: prim.attention
func.func @half(%q: tensor<2x2x4x8xbf16>, %k: tensor<2x2x4x8xbf16>, %v: tensor<2x2x4x8xbf16>) -> tensor<2x2x4x8xbf16> {
  %y = nn.attention %q, %k, %v {causal = true, scale = 5.0e-01 : f64} : (tensor<2x2x4x8xbf16>, tensor<2x2x4x8xbf16>, tensor<2x2x4x8xbf16>) -> tensor<2x2x4x8xbf16>
  return %y : tensor<2x2x4x8xbf16>
}

// CHECK-LABEL: @parts
// CHECK: prim.attention
func.func @parts(%q: tensor<2x2x4x8xbf16>, %k: tensor<2x2x4x8xbf16>, %v: tensor<2x2x4x8xbf16>) -> tensor<2x2x4x8xbf16> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x8xbf16>) -> tensor<2x2x8x4xbf16>
  %s = nn.matmul %q, %kt : (tensor<2x2x4x8xbf16>, tensor<2x2x8x4xbf16>) -> tensor<2x2x4x4xbf16>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xbf16>) -> tensor<2x2x4x4xbf16>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xbf16>, tensor<2x2x4x8xbf16>) -> tensor<2x2x4x8xbf16>
  return %y : tensor<2x2x4x8xbf16>
}

// CHECK-LABEL: @single
// CHECK: nn.attention
// CHECK-NOT: prim.attention
func.func @single(%q: tensor<2x2x4x8xf32>, %k: tensor<2x2x4x8xf32>, %v: tensor<2x2x4x8xf32>) -> tensor<2x2x4x8xf32> {
  %y = nn.attention %q, %k, %v {causal = true, scale = 5.0e-01 : f64} : (tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>, tensor<2x2x4x8xf32>) -> tensor<2x2x4x8xf32>
  return %y : tensor<2x2x4x8xf32>
}

// CHECK-LABEL: @single_parts
// CHECK: nn.softmax
func.func @single_parts(%q: tensor<2x2x4x8xf32>, %k: tensor<2x2x4x8xf32>, %v: tensor<2x2x4x8xf32>) -> tensor<2x2x4x8xf32> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x8xf32>) -> tensor<2x2x8x4xf32>
  %s = nn.matmul %q, %kt : (tensor<2x2x4x8xf32>, tensor<2x2x8x4xf32>) -> tensor<2x2x4x4xf32>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xf32>, tensor<2x2x4x8xf32>) -> tensor<2x2x4x8xf32>
  return %y : tensor<2x2x4x8xf32>
}

// CHECK-LABEL: @masked
// CHECK: nn.attention
// CHECK-NOT: prim.attention
func.func @masked(%q: tensor<2x2x4x8xbf16>, %k: tensor<2x2x4x8xbf16>, %v: tensor<2x2x4x8xbf16>, %seen: tensor<2x1x1x4xi1>) -> tensor<2x2x4x8xbf16> {
  %y = nn.attention %q, %k, %v mask %seen {causal = false, scale = 5.0e-01 : f64} : (tensor<2x2x4x8xbf16>, tensor<2x2x4x8xbf16>, tensor<2x2x4x8xbf16>, tensor<2x1x1x4xi1>) -> tensor<2x2x4x8xbf16>
  return %y : tensor<2x2x4x8xbf16>
}

// CHECK-LABEL: @masked_parts
// CHECK: nn.softmax
func.func @masked_parts(%q: tensor<2x2x4x8xbf16>, %k: tensor<2x2x4x8xbf16>, %v: tensor<2x2x4x8xbf16>, %seen: tensor<2x2x4x4xi1>) -> tensor<2x2x4x8xbf16> {
  %kt = prim.transpose %k {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x2x4x8xbf16>) -> tensor<2x2x8x4xbf16>
  %all = nn.matmul %q, %kt : (tensor<2x2x4x8xbf16>, tensor<2x2x8x4xbf16>) -> tensor<2x2x4x4xbf16>
  %hidden = prim.constant dense<0xFF80> : tensor<2x2x4x4xbf16>
  %s = prim.select %seen, %all, %hidden : (tensor<2x2x4x4xi1>, tensor<2x2x4x4xbf16>, tensor<2x2x4x4xbf16>) -> tensor<2x2x4x4xbf16>
  %p = nn.softmax %s {dimension = 3 : i64} : (tensor<2x2x4x4xbf16>) -> tensor<2x2x4x4xbf16>
  %y = nn.matmul %p, %v : (tensor<2x2x4x4xbf16>, tensor<2x2x4x8xbf16>) -> tensor<2x2x4x8xbf16>
  return %y : tensor<2x2x4x8xbf16>
}

// Gradients that a file holds.
// CHECK-LABEL: @backward
// CHECK: %[[Y:.*]], %[[STATS:.*]] = prim.attention
// CHECK: prim.attention_backward %{{.*}}, %[[Y]], %[[STATS]], %{{.*}} {causal = true, scale = 5.000000e-01 : f64}
// CHECK-NOT: nn.attention_backward
func.func @backward(%q: tensor<2x4x3x8xbf16>, %k: tensor<2x2x3x8xbf16>, %v: tensor<2x2x3x16xbf16>, %dy: tensor<2x4x3x16xbf16>) -> (tensor<2x4x3x8xbf16>, tensor<2x2x3x8xbf16>, tensor<2x2x3x16xbf16>) {
  %dq, %dk, %dv = nn.attention_backward %q, %k, %v, %dy {causal = true, scale = 5.0e-01 : f64} : (tensor<2x4x3x8xbf16>, tensor<2x2x3x8xbf16>, tensor<2x2x3x16xbf16>, tensor<2x4x3x16xbf16>) -> (tensor<2x4x3x8xbf16>, tensor<2x2x3x8xbf16>, tensor<2x2x3x16xbf16>)
  return %dq, %dk, %dv : tensor<2x4x3x8xbf16>, tensor<2x2x3x8xbf16>, tensor<2x2x3x16xbf16>
}

// CHECK-LABEL: @backward_f32
// CHECK: nn.attention_backward
func.func @backward_f32(%q: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %dq, %dk, %dv = nn.attention_backward %q, %q, %q, %q {causal = false, scale = 5.0e-01 : f64} : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>)
  return %dq : tensor<2x4x3x8xf32>
}
