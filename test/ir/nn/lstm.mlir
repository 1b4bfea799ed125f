// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.lstm %arg0, %arg1, %arg2 b %arg3 h %arg4 c %arg5 {batch_first = false, direction = #nn<rnn_direction forward>} : (tensor<2x1x3xf32>, tensor<1x8x3xf32>, tensor<1x8x2xf32>, tensor<1x16xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>)
// DECOMPOSE-LABEL: @f
// DECOMPOSE-COUNT-3: prim.dot_general
// DECOMPOSE-NOT: prim.dot_general
// DECOMPOSE: return
func.func @f(%a: tensor<2x1x3xf32>, %b: tensor<1x8x3xf32>, %c: tensor<1x8x2xf32>, %d: tensor<1x16xf32>, %e: tensor<1x1x2xf32>, %f: tensor<1x1x2xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>) {
  %r:3 = nn.lstm %a, %b, %c b %d h %e c %f {batch_first = false, direction = #nn<rnn_direction forward>} : (tensor<2x1x3xf32>, tensor<1x8x3xf32>, tensor<1x8x2xf32>, tensor<1x16xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>
}
