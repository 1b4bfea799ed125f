// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @plain
// CHECK: nn.bce_with_logits %arg0, %arg1 {reduction = #nn<reduction none>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-LABEL: @plain
// DECOMPOSE: [[V0:%.+]] = prim.abs %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.neg [[V0]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.exp [[V1]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.log1p [[V2]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.neg %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.constant dense<0.000000e+00> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.max [[V4]], [[V5]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.add [[V3]], [[V6]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.constant dense<1.000000e+00> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.sub [[V8]], %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.mul [[V9]], %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.add [[V10]], [[V7]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: return [[V11]] : tensor<2x3xf32>
func.func @plain(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %r = nn.bce_with_logits %a, %b {reduction = #nn<reduction none>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK-LABEL: @weights
// CHECK: nn.bce_with_logits %arg0, %arg1 weight %arg2 pos_weight %arg3 {reduction = #nn<reduction sum>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>, tensor<3xf32>) -> tensor<f32>
// DECOMPOSE-LABEL: @weights
// DECOMPOSE: [[V0:%.+]] = prim.abs %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.neg [[V0]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.exp [[V1]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.log1p [[V2]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.neg %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.constant dense<0.000000e+00> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.max [[V4]], [[V5]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.add [[V3]], [[V6]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.broadcast %arg3 {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.constant dense<1.000000e+00> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.sub [[V8]], [[V9]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.mul [[V10]], %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.add [[V9]], [[V11]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.mul [[V7]], [[V12]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.sub [[V9]], %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.mul [[V14]], %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.add [[V15]], [[V13]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V17:%.+]] = prim.broadcast %arg2 {dimensions = array<i64: 0, 1>} : (tensor<2x1xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V18:%.+]] = prim.mul [[V16]], [[V17]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V19:%.+]] = prim.reduce  sum [[V18]] {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
// DECOMPOSE-NEXT: return [[V19]] : tensor<f32>
func.func @weights(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %c: tensor<2x1xf32>, %d: tensor<3xf32>) -> tensor<f32> {
  %r = nn.bce_with_logits %a, %b weight %c pos_weight %d {reduction = #nn<reduction sum>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>, tensor<3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: @pos_weight
// CHECK: nn.bce_with_logits %arg0, %arg1 pos_weight %arg2 {reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<f32>
// DECOMPOSE-LABEL: @pos_weight
// DECOMPOSE: [[V0:%.+]] = prim.abs %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.neg [[V0]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.exp [[V1]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.log1p [[V2]] : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V4:%.+]] = prim.neg %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V5:%.+]] = prim.constant dense<0.000000e+00> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V6:%.+]] = prim.max [[V4]], [[V5]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V7:%.+]] = prim.add [[V3]], [[V6]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V8:%.+]] = prim.broadcast %arg2 {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V9:%.+]] = prim.constant dense<1.000000e+00> : tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V10:%.+]] = prim.sub [[V8]], [[V9]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V11:%.+]] = prim.mul [[V10]], %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V12:%.+]] = prim.add [[V9]], [[V11]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V13:%.+]] = prim.mul [[V7]], [[V12]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V14:%.+]] = prim.sub [[V9]], %arg1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V15:%.+]] = prim.mul [[V14]], %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V16:%.+]] = prim.add [[V15]], [[V13]] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// DECOMPOSE-NEXT: [[V17:%.+]] = prim.constant dense<6.000000e+00> : tensor<f32>
// DECOMPOSE-NEXT: [[V18:%.+]] = prim.reduce  sum [[V16]] {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<f32>
// DECOMPOSE-NEXT: [[V19:%.+]] = prim.div [[V18]], [[V17]] : (tensor<f32>, tensor<f32>) -> tensor<f32>
// DECOMPOSE-NEXT: return [[V19]] : tensor<f32>
func.func @pos_weight(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %c: tensor<3xf32>) -> tensor<f32> {
  %r = nn.bce_with_logits %a, %b pos_weight %c {reduction = #nn<reduction mean>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}
