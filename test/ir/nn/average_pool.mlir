// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @all_alike
// CHECK: nn.average_pool %arg0 {ceil_mode = false, count_include_pad = false, dilations = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<1x2x4xf32>) -> tensor<1x2x2xf32>
// DECOMPOSE-LABEL: @all_alike
// DECOMPOSE: [[V0:%.+]] = prim.reduce_window  sum %arg0 {dilations = array<i64: 1, 1, 1>, pad_high = array<i64: 0, 0, 0>, pad_low = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 2>, window = array<i64: 1, 1, 2>} : (tensor<1x2x4xf32>) -> tensor<1x2x2xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<5.000000e-01> : tensor<1x2x2xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.mul [[V0]], [[V1]] : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
// DECOMPOSE-NEXT: return [[V2]] : tensor<1x2x2xf32>
func.func @all_alike(%a: tensor<1x2x4xf32>) -> tensor<1x2x2xf32> {
  %r = nn.average_pool %a {ceil_mode = false, count_include_pad = false, dilations = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<1x2x4xf32>) -> tensor<1x2x2xf32>
  return %r : tensor<1x2x2xf32>
}

// CHECK-LABEL: @padded
// CHECK: nn.average_pool %arg0 {ceil_mode = false, count_include_pad = false, dilations = array<i64: 1>, pad_high = array<i64: 1>, pad_low = array<i64: 1>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<1x2x4xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-LABEL: @padded
// DECOMPOSE: [[V0:%.+]] = prim.reduce_window  sum %arg0 {dilations = array<i64: 1, 1, 1>, pad_high = array<i64: 0, 0, 1>, pad_low = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 2>, window = array<i64: 1, 1, 2>} : (tensor<1x2x4xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<[1.000000e+00, 5.000000e-01, 1.000000e+00]> : tensor<3xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.broadcast [[V1]] {dimensions = array<i64: 2>} : (tensor<3xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V3:%.+]] = prim.mul [[V0]], [[V2]] : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: return [[V3]] : tensor<1x2x3xf32>
func.func @padded(%a: tensor<1x2x4xf32>) -> tensor<1x2x3xf32> {
  %r = nn.average_pool %a {ceil_mode = false, count_include_pad = false, dilations = array<i64: 1>, pad_high = array<i64: 1>, pad_low = array<i64: 1>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<1x2x4xf32>) -> tensor<1x2x3xf32>
  return %r : tensor<1x2x3xf32>
}

// CHECK-LABEL: @padding_counts
// CHECK: nn.average_pool %arg0 {ceil_mode = false, count_include_pad = true, dilations = array<i64: 1>, pad_high = array<i64: 1>, pad_low = array<i64: 1>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<1x2x4xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-LABEL: @padding_counts
// DECOMPOSE: [[V0:%.+]] = prim.reduce_window  sum %arg0 {dilations = array<i64: 1, 1, 1>, pad_high = array<i64: 0, 0, 1>, pad_low = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 2>, window = array<i64: 1, 1, 2>} : (tensor<1x2x4xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V1:%.+]] = prim.constant dense<5.000000e-01> : tensor<1x2x3xf32>
// DECOMPOSE-NEXT: [[V2:%.+]] = prim.mul [[V0]], [[V1]] : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: return [[V2]] : tensor<1x2x3xf32>
func.func @padding_counts(%a: tensor<1x2x4xf32>) -> tensor<1x2x3xf32> {
  %r = nn.average_pool %a {ceil_mode = false, count_include_pad = true, dilations = array<i64: 1>, pad_high = array<i64: 1>, pad_low = array<i64: 1>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<1x2x4xf32>) -> tensor<1x2x3xf32>
  return %r : tensor<1x2x3xf32>
}
