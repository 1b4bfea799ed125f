// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @erf
// CHECK: nn.gelu %arg0 {form = #nn<gelu_form erf>} : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @erf
// DECOMPOSE: [[V0:%.+]] = prim.constant dense<0.707106769> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.mul %arg0, [[V0]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.erf [[V1]] : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.constant dense<1.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.add [[V3]], [[V2]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.constant dense<5.000000e-01> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.mul [[V5]], [[V4]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.mul %arg0, [[V6]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: return [[V7]] : tensor<4xf32>
func.func @erf(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.gelu %a {form = #nn<gelu_form erf>} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: @tanh
// CHECK: nn.gelu %arg0 {form = #nn<gelu_form tanh>} : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @tanh
// DECOMPOSE: [[V0:%.+]] = prim.constant dense<5.000000e-01> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.mul [[V0]], %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.mul %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.constant dense<4.471500e-02> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.mul [[V3]], [[V2]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.constant dense<1.000000e+00> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.add [[V5]], [[V4]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.mul %arg0, [[V6]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.constant dense<0.797884583> : tensor<4xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.mul [[V8]], [[V7]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.tanh [[V9]] : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.add [[V5]], [[V10]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.mul [[V1]], [[V11]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-NEXT: return [[V12]] : tensor<4xf32>
func.func @tanh(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.gelu %a {form = #nn<gelu_form tanh>} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
