// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics | accc-opt -split-input-file | FileCheck %s

// CHECK-LABEL: @whole
// CHECK: prim.attention %arg0, %arg1, %arg2 {causal = true, scale = 5.000000e-01 : f64}
func.func @whole(%q: tensor<2x5x4x8xbf16>, %k: tensor<2x6x2x8xbf16>, %v: tensor<2x6x2x16xbf16>) -> (tensor<2x5x4x16xbf16>, tensor<2x4x5xf32>) {
  %y, %stats = prim.attention %q, %k, %v {causal = true, scale = 0.5 : f64} : (tensor<2x5x4x8xbf16>, tensor<2x6x2x8xbf16>, tensor<2x6x2x16xbf16>) -> (tensor<2x5x4x16xbf16>, tensor<2x4x5xf32>)
  return %y, %stats : tensor<2x5x4x16xbf16>, tensor<2x4x5xf32>
}

// -----

func.func @heads(%q: tensor<2x5x3x8xf32>, %k: tensor<2x6x2x8xf32>, %v: tensor<2x6x2x8xf32>) {
  // expected-error@+2 {{do not fit together}}
  // expected-error@+1 {{failed to infer returned types}}
  %y, %stats = prim.attention %q, %k, %v {causal = false, scale = 0.5 : f64} : (tensor<2x5x3x8xf32>, tensor<2x6x2x8xf32>, tensor<2x6x2x8xf32>) -> (tensor<2x5x3x8xf32>, tensor<2x3x5xf32>)
  return
}

// -----

func.func @rank(%q: tensor<5x3x8xf32>, %k: tensor<2x6x3x8xf32>, %v: tensor<2x6x3x8xf32>) {
  // expected-error@+2 {{q, k and v must have rank 4}}
  // expected-error@+1 {{failed to infer returned types}}
  %y, %stats = prim.attention %q, %k, %v {causal = false, scale = 0.5 : f64} : (tensor<5x3x8xf32>, tensor<2x6x3x8xf32>, tensor<2x6x3x8xf32>) -> (tensor<5x3x8xf32>, tensor<3x5xf32>)
  return
}

// -----

func.func @keys(%q: tensor<2x5x3x8xf32>, %k: tensor<2x0x3x8xf32>, %v: tensor<2x0x3x8xf32>) {
  // expected-error@+2 {{there is no key, or no feature}}
  // expected-error@+1 {{failed to infer returned types}}
  %y, %stats = prim.attention %q, %k, %v {causal = false, scale = 0.5 : f64} : (tensor<2x5x3x8xf32>, tensor<2x0x3x8xf32>, tensor<2x0x3x8xf32>) -> (tensor<2x5x3x8xf32>, tensor<2x3x5xf32>)
  return
}
