// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.thresholded_relu %arg0 {alpha = 5.000000e-01 : f64} : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.constant dense<5.000000e-01> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.compare  gt %arg0, [[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.constant dense<0.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.select [[V1]], %arg0, [[V2]] : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: return [[V3]] : tensor<4xf32>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.thresholded_relu %a {alpha = 0.5} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
