// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.polygamma %arg0 {order = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[X:%.+]] = prim.convert %arg0 : (tensor<4xf32>) -> tensor<4xf64>
// DECOMPOSE: prim.round_even {{.*}} : (tensor<4xf64>
// DECOMPOSE: prim.cos {{.*}} : (tensor<4xf64>
// DECOMPOSE: prim.sin {{.*}} : (tensor<4xf64>
// DECOMPOSE: [[R:%.+]] = prim.convert {{%.+}} : (tensor<4xf64>) -> tensor<4xf32>
// DECOMPOSE-NEXT: return [[R]] : tensor<4xf32>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.polygamma %a {order = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
