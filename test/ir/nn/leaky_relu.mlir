// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.leaky_relu %arg0 {alpha = 1.000000e-01 : f64} : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.constant dense<0.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.compare  gt %arg0, [[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.constant dense<1.000000e-01> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.mul [[V2]], %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.select [[V1]], %arg0, [[V3]] : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: return [[V4]] : tensor<4xf32>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.leaky_relu %a {alpha = 0.1} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
