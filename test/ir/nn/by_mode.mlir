// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @value
// CHECK: nn.by_mode %arg0, %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// DECOMPOSE-LABEL: @value
// DECOMPOSE-NEXT: return %arg0 : tensor<4xf32>
func.func @value(%training: tensor<4xf32>, %evaluation: tensor<4xf32>) -> tensor<4xf32> {
  %r = nn.by_mode %training, %evaluation : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
