// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.batch_norm_untracked %arg0, %arg1, %arg2 {epsilon = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
func.func @f(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %r = nn.batch_norm_untracked %x, %s, %b {epsilon = 1.0e-05 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// Of all processes: their sums over their sums of rows, the variance by the mean of all.
// CHECK-LABEL: @all
// CHECK: nn.batch_norm_untracked %arg0, %arg1, %arg2 {epsilon = 1.000000e-05 : f64, synchronized}
// DECOMPOSE-LABEL: @all
// DECOMPOSE: [[OWN:%.+]] = prim.constant dense<8.000000e+00> : tensor<f32>
// DECOMPOSE-NEXT: [[X:%.+]] = prim.reduce sum %arg0 {dimensions = array<i64: 0, 2>}
// DECOMPOSE-NEXT: [[SUMS:%.+]]:2 = prim.all_reduce [[X]], [[OWN]] {sum} : (tensor<3xf32>, tensor<f32>)
// DECOMPOSE-NEXT: [[N:%.+]] = prim.broadcast [[SUMS]]#1 {{.*}} -> tensor<3xf32>
// DECOMPOSE-NEXT: [[MEAN:%.+]] = prim.div [[SUMS]]#0, [[N]]
// DECOMPOSE-NEXT: [[M:%.+]] = prim.broadcast [[MEAN]]
// DECOMPOSE-NEXT: [[C:%.+]] = prim.sub %arg0, [[M]]
// DECOMPOSE-NEXT: [[SQUARE:%.+]] = prim.mul [[C]], [[C]]
// DECOMPOSE-NEXT: [[Q:%.+]] = prim.reduce sum [[SQUARE]]
// DECOMPOSE-NEXT: [[SQUARES:%.+]] = prim.all_reduce [[Q]] {sum} : (tensor<3xf32>)
// DECOMPOSE-NEXT: prim.div [[SQUARES]], [[N]]
func.func @all(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %r = nn.batch_norm_untracked %x, %s, %b {epsilon = 1.0e-05 : f64, synchronized} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}
