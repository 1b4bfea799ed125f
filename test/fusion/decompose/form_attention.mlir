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

// A query without a key gives zeros, whatever the library makes of it.
// CHECK-LABEL: @masked
// CHECK: %[[BIAS:.*]] = prim.select %{{.*}} : (tensor<1x1x5x5xi1>, tensor<1x1x5x5xf32>, tensor<1x1x5x5xf32>)
// CHECK: %[[Y:.*]], %{{.*}} = prim.attention %{{.*}}, %{{.*}}, %{{.*}}, %[[BIAS]] {causal = true
// CHECK: prim.reduce any %{{.*}} : (tensor<1x1x5x5xi1>) -> tensor<1x1x5xi1>
// CHECK: prim.select %{{.*}}, %[[Y]], %{{.*}} : (tensor<2x5x4x8xi1>
func.func @masked(%q: tensor<2x4x5x8xf32>, %mask: tensor<5x5xi1>) -> tensor<2x4x5x8xf32> {
  %y = nn.attention %q, %q, %q mask %mask {causal = true, scale = 0.5 : f64} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<5x5xi1>) -> tensor<2x4x5x8xf32>
  return %y : tensor<2x4x5x8xf32>
}

// One that a number hides from all keys looks at all alike.
// CHECK-LABEL: @lowest
// CHECK: %[[Y:.*]], %{{.*}} = prim.attention
// CHECK: prim.reduce sum %{{.*}} {dimensions = array<i64: 1>} : (tensor<2x6x2x8xf32>) -> tensor<2x2x8xf32>
// CHECK: prim.select %{{.*}}, %[[Y]], %{{.*}} : (tensor<2x5x4x8xi1>
func.func @lowest(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x6x8xf32>, %keys: tensor<2x1x1x6xi1>) -> tensor<2x4x5x8xf32> {
  %zero = prim.constant dense<0.0> : tensor<2x1x1x6xf32>
  %least = prim.constant dense<-3.40282347E+38> : tensor<2x1x1x6xf32>
  %mask = prim.select %keys, %zero, %least : (tensor<2x1x1x6xi1>, tensor<2x1x1x6xf32>, tensor<2x1x1x6xf32>) -> tensor<2x1x1x6xf32>
  %y = nn.attention %q, %k, %k mask %mask {causal = false, scale = 0.5 : f64} : (tensor<2x4x5x8xf32>, tensor<2x2x6x8xf32>, tensor<2x2x6x8xf32>, tensor<2x1x1x6xf32>) -> tensor<2x4x5x8xf32>
  return %y : tensor<2x4x5x8xf32>
}

// Behind a causal mask, all keys up to its own.
// CHECK-LABEL: @lowest_causal
// CHECK: nn.attention
func.func @lowest_causal(%q: tensor<2x4x5x8xf32>, %keys: tensor<2x1x1x5xi1>) -> tensor<2x4x5x8xf32> {
  %zero = prim.constant dense<0.0> : tensor<2x1x1x5xf32>
  %least = prim.constant dense<-3.40282347E+38> : tensor<2x1x1x5xf32>
  %mask = prim.select %keys, %zero, %least : (tensor<2x1x1x5xi1>, tensor<2x1x1x5xf32>, tensor<2x1x1x5xf32>) -> tensor<2x1x1x5xf32>
  %y = nn.attention %q, %q, %q mask %mask {causal = true, scale = 0.5 : f64} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x1x1x5xf32>) -> tensor<2x4x5x8xf32>
  return %y : tensor<2x4x5x8xf32>
}

// CHECK-LABEL: @numbers
// CHECK: nn.attention
func.func @numbers(%q: tensor<2x4x5x8xf32>, %mask: tensor<5x5xf32>) -> tensor<2x4x5x8xf32> {
  %y = nn.attention %q, %q, %q mask %mask {causal = false, scale = 0.5 : f64} : (tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>, tensor<5x5xf32>) -> tensor<2x4x5x8xf32>
  return %y : tensor<2x4x5x8xf32>
}

// CHECK-LABEL: @small_numbers
// CHECK: nn.attention
func.func @small_numbers(%q: tensor<2x4x5x8xf16>, %mask: tensor<5x5xi1>) -> tensor<2x4x5x8xf16> {
  %y = nn.attention %q, %q, %q mask %mask {causal = false, scale = 0.5 : f64} : (tensor<2x4x5x8xf16>, tensor<2x4x5x8xf16>, tensor<2x4x5x8xf16>, tensor<5x5xi1>) -> tensor<2x4x5x8xf16>
  return %y : tensor<2x4x5x8xf16>
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
