// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --make-trainable="loss=mse optimizer=sgd" | FileCheck %s
// A sample that is refined step by step: output, input and weight have one shape, so that each may
// be given where another is read.

// CHECK: func.func @train_step
func.func @forward(%w: tensor<8x8xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
                   %x: tensor<8x8xf32> {accc.name = "x", accc.role = #prim.role<input>},
                   %h: tensor<8x8xf32> {accc.name = "h", accc.role = #prim.role<input>})
    -> (tensor<8x8xf32> {accc.name = "next", accc.role = #prim.role<output>}) {
  %p = nn.matmul %h, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = prim.add %p, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = prim.tanh %s : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = nn.matmul %t, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %next = prim.add %q, %h : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %next : tensor<8x8xf32>
}
