// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.zeta %arg0, %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE-DAG: prim.convert %arg0 : (tensor<4xf32>) -> tensor<4xf64>
// DECOMPOSE-DAG: prim.convert %arg1 : (tensor<4xf32>) -> tensor<4xf64>
// DECOMPOSE-COUNT-33: prim.pow
// DECOMPOSE: [[R:%.+]] = prim.convert {{%.+}} : (tensor<4xf64>) -> tensor<4xf32>
// DECOMPOSE-NEXT: return [[R]] : tensor<4xf32>
func.func @f(%s: tensor<4xf32>, %q: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.zeta %s, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
