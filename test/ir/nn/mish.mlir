// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.mish %arg0 : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.constant dense<0.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.max %arg0, [[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.abs %arg0 : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.neg [[V2]] : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.exp [[V3]] : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.log1p [[V4]] : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.add [[V1]], [[V5]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.tanh [[V6]] : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.mul %arg0, [[V7]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: return [[V8]] : tensor<4xf32>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.mish %a : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
