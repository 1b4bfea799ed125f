// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @f
// CHECK: nn.conv_transpose %arg0, %arg1 bias %arg2 {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 2>} : (tensor<2x4x3xf32>, tensor<4x3x3xf32>, tensor<3xf32>) -> tensor<2x3x8xf32>
// DECOMPOSE-LABEL: @f
// DECOMPOSE: [[V0:%.+]] = prim.convolution_backward_data %arg0, %arg1 {dilations = array<i64: 1>, groups = 1 : i64, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 2>} : (tensor<2x4x3xf32>, tensor<4x3x3xf32>) -> tensor<2x3x8xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.broadcast %arg2 {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3x8xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.add [[V0]], [[V1]] : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
// DECOMPOSE-NEXT: return [[V2]] : tensor<2x3x8xf32>
func.func @f(%a: tensor<2x4x3xf32>, %b: tensor<4x3x3xf32>, %c: tensor<3xf32>) -> tensor<2x3x8xf32> {
  %r = nn.conv_transpose %a, %b bias %c {dilations = array<i64: 1>, groups = 1 : i64, output_padding = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 2>} : (tensor<2x4x3xf32>, tensor<4x3x3xf32>, tensor<3xf32>) -> tensor<2x3x8xf32>
  return %r : tensor<2x3x8xf32>
}
