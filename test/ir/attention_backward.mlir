// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics | accc-opt -split-input-file | FileCheck %s

// CHECK-LABEL: @gradient
// CHECK: prim.attention_backward %arg0, %arg1, %arg2, %arg3, %arg4, %arg5 {causal = false, scale = 5.000000e-01 : f64}
func.func @gradient(%q: tensor<2x5x4x8xf16>, %k: tensor<2x6x2x8xf16>, %v: tensor<2x6x2x16xf16>, %y: tensor<2x5x4x16xf16>, %stats: tensor<2x4x5xf32>, %dy: tensor<2x5x4x16xf16>) -> (tensor<2x5x4x8xf16>, tensor<2x6x2x8xf16>, tensor<2x6x2x16xf16>) {
  %dq, %dk, %dv = prim.attention_backward %q, %k, %v, %y, %stats, %dy {causal = false, scale = 0.5 : f64} : (tensor<2x5x4x8xf16>, tensor<2x6x2x8xf16>, tensor<2x6x2x16xf16>, tensor<2x5x4x16xf16>, tensor<2x4x5xf32>, tensor<2x5x4x16xf16>) -> (tensor<2x5x4x8xf16>, tensor<2x6x2x8xf16>, tensor<2x6x2x16xf16>)
  return %dq, %dk, %dv : tensor<2x5x4x8xf16>, tensor<2x6x2x8xf16>, tensor<2x6x2x16xf16>
}

// -----

func.func @stats(%q: tensor<2x5x4x8xf16>, %k: tensor<2x6x2x8xf16>, %v: tensor<2x6x2x16xf16>, %y: tensor<2x5x4x16xf16>, %stats: tensor<2x4x5xf16>) {
  // expected-error@+2 {{but the attention gives 'tensor<2x5x4x16xf16>' and 'tensor<2x4x5xf32>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %dq, %dk, %dv = prim.attention_backward %q, %k, %v, %y, %stats, %y {causal = false, scale = 0.5 : f64} : (tensor<2x5x4x8xf16>, tensor<2x6x2x8xf16>, tensor<2x6x2x16xf16>, tensor<2x5x4x16xf16>, tensor<2x4x5xf16>, tensor<2x5x4x16xf16>) -> (tensor<2x5x4x8xf16>, tensor<2x6x2x8xf16>, tensor<2x6x2x16xf16>)
  return
}
