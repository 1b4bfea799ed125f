// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.hard_sigmoid %arg0 {alpha = 2.000000e-01 : f64, beta = 5.000000e-01 : f64} : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.constant dense<2.000000e-01> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.mul [[V0]], %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.constant dense<5.000000e-01> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.add [[V1]], [[V2]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.constant dense<0.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.max [[V3]], [[V4]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.constant dense<1.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.min [[V5]], [[V6]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: return [[V7]] : tensor<4xf32>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.hard_sigmoid %a {alpha = 0.2, beta = 0.5} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
