// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.selu %arg0 {alpha = 1.500000e+00 : f64, gamma = 1.000000e+00 : f64} : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.constant dense<0.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.compare  gt %arg0, [[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.constant dense<1.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.mul [[V2]], %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.expm1 %arg0 : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.constant dense<1.500000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.mul [[V5]], [[V4]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.select [[V1]], [[V3]], [[V6]] : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: return [[V7]] : tensor<4xf32>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.selu %a {alpha = 1.5, gamma = 1.0} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
