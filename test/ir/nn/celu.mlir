// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.celu %arg0 {alpha = 5.000000e-01 : f64} : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.constant dense<0.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.compare  gt %arg0, [[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.constant dense<2.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.mul %arg0, [[V2]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.expm1 [[V3]] : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.constant dense<5.000000e-01> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.mul [[V5]], [[V4]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.select [[V1]], %arg0, [[V6]] : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: return [[V7]] : tensor<4xf32>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.celu %a {alpha = 0.5} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
