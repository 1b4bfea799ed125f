// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --expand-attention=target=cuda --simplify | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: accc-opt %s --expand-attention=target=cpu --simplify | FileCheck %s --check-prefixes=CHECK,CPU

// CHECK-LABEL: @half
// CUDA: prim.attention %
// CUDA: prim.attention_backward
// CPU-NOT: prim.attention
func.func @half(%q: tensor<2x5x4x8xbf16>, %k: tensor<2x6x2x8xbf16>, %v: tensor<2x6x2x8xbf16>, %dy: tensor<2x5x4x8xbf16>) -> (tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>) {
  %y, %stats = prim.attention %q, %k, %v {causal = true, scale = 0.5 : f64} : (tensor<2x5x4x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>) -> (tensor<2x5x4x8xbf16>, tensor<2x4x5xf32>)
  %dq, %dk, %dv = prim.attention_backward %q, %k, %v, %y, %stats, %dy {causal = true, scale = 0.5 : f64} : (tensor<2x5x4x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x5x4x8xbf16>, tensor<2x4x5xf32>, tensor<2x5x4x8xbf16>) -> (tensor<2x5x4x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x8xbf16>)
  return %y, %dq : tensor<2x5x4x8xbf16>, tensor<2x5x4x8xbf16>
}

// The gradient reads the weights that the forward pass has computed: one softmax.
// CHECK-LABEL: @full
// CHECK: prim.dot_general
// CHECK: prim.exp
// CHECK-NOT: prim.exp
// CHECK-NOT: prim.attention
// CHECK: return
func.func @full(%q: tensor<2x5x4x8xf32>, %k: tensor<2x6x2x8xf32>, %v: tensor<2x6x2x8xf32>, %dy: tensor<2x5x4x8xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>) {
  %y, %stats = prim.attention %q, %k, %v {causal = true, scale = 0.5 : f64} : (tensor<2x5x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x4x5xf32>)
  %dq, %dk, %dv = prim.attention_backward %q, %k, %v, %y, %stats, %dy {causal = true, scale = 0.5 : f64} : (tensor<2x5x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>, tensor<2x5x4x8xf32>, tensor<2x4x5xf32>, tensor<2x5x4x8xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>)
  return %y, %dq : tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>
}

// Kernels take features eight by eight.
// CHECK-LABEL: @odd
// CHECK-NOT: prim.attention
func.func @odd(%q: tensor<2x5x4x6xbf16>) -> tensor<2x5x4x6xbf16> {
  %y, %stats = prim.attention %q, %q, %q {causal = false, scale = 0.5 : f64} : (tensor<2x5x4x6xbf16>, tensor<2x5x4x6xbf16>, tensor<2x5x4x6xbf16>) -> (tensor<2x5x4x6xbf16>, tensor<2x4x5xf32>)
  return %y : tensor<2x5x4x6xbf16>
}

// As many scores of the two heads that share keys as the library has room for, and more.
// CHECK-LABEL: @many
// CUDA: prim.attention_backward
// CPU-NOT: prim.attention
func.func @many(%q: tensor<1x16200x2x8xbf16>, %k: tensor<1x16200x1x8xbf16>, %v: tensor<1x16200x1x8xbf16>, %y: tensor<1x16200x2x8xbf16>, %stats: tensor<1x2x16200xf32>, %dy: tensor<1x16200x2x8xbf16>) -> tensor<1x16200x2x8xbf16> {
  %dq, %dk, %dv = prim.attention_backward %q, %k, %v, %y, %stats, %dy {causal = true, scale = 0.5 : f64} : (tensor<1x16200x2x8xbf16>, tensor<1x16200x1x8xbf16>, tensor<1x16200x1x8xbf16>, tensor<1x16200x2x8xbf16>, tensor<1x2x16200xf32>, tensor<1x16200x2x8xbf16>) -> (tensor<1x16200x2x8xbf16>, tensor<1x16200x1x8xbf16>, tensor<1x16200x1x8xbf16>)
  return %dq : tensor<1x16200x2x8xbf16>
}

// CHECK-LABEL: @too_many
// CHECK-NOT: prim.attention
func.func @too_many(%q: tensor<1x16300x2x8xbf16>, %k: tensor<1x16300x1x8xbf16>, %v: tensor<1x16300x1x8xbf16>, %y: tensor<1x16300x2x8xbf16>, %stats: tensor<1x2x16300xf32>, %dy: tensor<1x16300x2x8xbf16>) -> tensor<1x16300x2x8xbf16> {
  %dq, %dk, %dv = prim.attention_backward %q, %k, %v, %y, %stats, %dy {causal = true, scale = 0.5 : f64} : (tensor<1x16300x2x8xbf16>, tensor<1x16300x1x8xbf16>, tensor<1x16300x1x8xbf16>, tensor<1x16300x2x8xbf16>, tensor<1x2x16300xf32>, tensor<1x16300x2x8xbf16>) -> (tensor<1x16300x2x8xbf16>, tensor<1x16300x1x8xbf16>, tensor<1x16300x1x8xbf16>)
  return %dq : tensor<1x16300x2x8xbf16>
}
