// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.entr %arg0 : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: prim.log {{%.+}} : (tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE: prim.constant dense<0xFF800000> : tensor<4xf32>
// DECOMPOSE: [[R:%.+]] = prim.select
// DECOMPOSE-NEXT: return [[R]] : tensor<4xf32>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.entr %a : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
