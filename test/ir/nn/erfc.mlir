// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.erfc %arg0 : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[X:%.+]] = prim.convert %arg0 : (tensor<4xf32>) -> tensor<4xf64>
// DECOMPOSE: prim.exp {{.*}} : (tensor<4xf64>
// DECOMPOSE: prim.exp {{.*}} : (tensor<4xf64>
// DECOMPOSE: [[R:%.+]] = prim.convert {{%.+}} : (tensor<4xf64>) -> tensor<4xf32>
// DECOMPOSE-NEXT: return [[R]] : tensor<4xf32>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.erfc %a : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
