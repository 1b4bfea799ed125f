// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @value
// CHECK: nn.zero_dependence %arg0, %arg1 : (tensor<4xf32>, tensor<2x3xf32>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @value
// DECOMPOSE-NEXT: return %arg0 : tensor<4xf32>
func.func @value(%value: tensor<4xf32>, %x: tensor<2x3xf32>) -> tensor<4xf32> {
  %r = nn.zero_dependence %value, %x : (tensor<4xf32>, tensor<2x3xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
