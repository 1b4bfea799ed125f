// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.prelu %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.constant dense<0.000000e+00> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.compare  gt %arg0, [[V0]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.broadcast %arg1 {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.mul [[V2]], %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.select [[V1]], %arg0, [[V3]] : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: return [[V4]] : tensor<2x3xf32>
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %r = nn.prelu %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
