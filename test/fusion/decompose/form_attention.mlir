// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --form-attention | FileCheck %s

// CHECK-LABEL: @whole
// CHECK-DAG: %[[Q:.*]] = prim.transpose %arg0 {permutation = array<i64: 0, 2, 1, 3>}
// CHECK-DAG: %[[K:.*]] = prim.transpose %arg1
// CHECK-DAG: %[[V:.*]] = prim.transpose %arg2
// CHECK: %[[Y:.*]], %{{.*}} = prim.attention %[[Q]], %[[K]], %[[V]] {causal = true, scale = 5.000000e-01 : f64}
// CHECK: prim.transpose %[[Y]] {permutation = array<i64: 0, 2, 1, 3>} {{.*}} -> tensor<2x4x5x8xf32>
func.func @whole(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x8xf32>) -> tensor<2x4x5x8xf32> {
  %y = nn.attention %q, %k, %v {causal = true, scale = 0.5 : f64} : (tensor<2x4x5x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x8xf32>) -> tensor<2x4x5x8xf32>
  return %y : tensor<2x4x5x8xf32>
}

// A mask may hide all keys of a query.
// CHECK-LABEL: @masked
// CHECK: nn.attention
func.func @masked(%q: tensor<2x4x5x8xf32>, %mask: tensor<5x5xi1>) -> tensor<2x4x5x8xf32> {
  %y = nn.attention %q, %q, %q mask %mask {causal = true, scale = 0.5 : f64} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<5x5xi1>) -> tensor<2x4x5x8xf32>
  return %y : tensor<2x4x5x8xf32>
}

// CHECK-LABEL: @capped
// CHECK: nn.attention
func.func @capped(%q: tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32> {
  %y = nn.attention %q, %q, %q {causal = true, scale = 0.5 : f64, softcap = 2.0 : f64} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  return %y : tensor<2x4x5x8xf32>
}

// CHECK-LABEL: @no_keys
// CHECK: nn.attention
func.func @no_keys(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x0x8xf32>) -> tensor<2x4x5x8xf32> {
  %y = nn.attention %q, %k, %k {causal = false, scale = 0.5 : f64} : (tensor<2x4x5x8xf32>, tensor<2x4x0x8xf32>, tensor<2x4x0x8xf32>) -> tensor<2x4x5x8xf32>
  return %y : tensor<2x4x5x8xf32>
}
