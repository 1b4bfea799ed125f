// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @pytorch
// CHECK: nn.gru %arg0, %arg1, %arg2 b %arg3 {batch_first = false, direction = #nn<rnn_direction forward>, linear_before_reset = true} : (tensor<2x1x3xf32>, tensor<1x6x3xf32>, tensor<1x6x2xf32>, tensor<1x12xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>)
// DECOMPOSE-LABEL: @pytorch
// DECOMPOSE-COUNT-3: prim.dot_general
// DECOMPOSE-NOT: prim.dot_general
// DECOMPOSE: return
func.func @pytorch(%a: tensor<2x1x3xf32>, %b: tensor<1x6x3xf32>, %c: tensor<1x6x2xf32>, %d: tensor<1x12xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>) {
  %r:2 = nn.gru %a, %b, %c b %d {batch_first = false, direction = #nn<rnn_direction forward>, linear_before_reset = true} : (tensor<2x1x3xf32>, tensor<1x6x3xf32>, tensor<1x6x2xf32>, tensor<1x12xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>)
  return %r#0, %r#1 : tensor<2x1x1x2xf32>, tensor<1x1x2xf32>
}

// CHECK-LABEL: @onnx
// CHECK: nn.gru %arg0, %arg1, %arg2 {batch_first = false, direction = #nn<rnn_direction forward>, linear_before_reset = false} : (tensor<2x1x3xf32>, tensor<1x6x3xf32>, tensor<1x6x2xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>)
// DECOMPOSE-LABEL: @onnx
// DECOMPOSE-COUNT-5: prim.dot_general
// DECOMPOSE-NOT: prim.dot_general
// DECOMPOSE: return
func.func @onnx(%a: tensor<2x1x3xf32>, %b: tensor<1x6x3xf32>, %c: tensor<1x6x2xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>) {
  %r:2 = nn.gru %a, %b, %c {batch_first = false, direction = #nn<rnn_direction forward>, linear_before_reset = false} : (tensor<2x1x3xf32>, tensor<1x6x3xf32>, tensor<1x6x2xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x1x2xf32>)
  return %r#0, %r#1 : tensor<2x1x1x2xf32>, tensor<1x1x2xf32>
}
