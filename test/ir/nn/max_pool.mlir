// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose --cse | FileCheck %s --check-prefix=DECOMPOSE

// CHECK-LABEL: @floor
// CHECK: nn.max_pool %arg0 {ceil_mode = false, dilations = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<1x2x5xf32>) -> tensor<1x2x2xf32>
// DECOMPOSE-LABEL: @floor
// DECOMPOSE: [[V0:%.+]] = prim.reduce_window  max %arg0 {dilations = array<i64: 1, 1, 1>, pad_high = array<i64: 0, 0, 0>, pad_low = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 2>, window = array<i64: 1, 1, 2>} : (tensor<1x2x5xf32>) -> tensor<1x2x2xf32>
// DECOMPOSE-NEXT: return [[V0]] : tensor<1x2x2xf32>
func.func @floor(%a: tensor<1x2x5xf32>) -> tensor<1x2x2xf32> {
  %r = nn.max_pool %a {ceil_mode = false, dilations = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<1x2x5xf32>) -> tensor<1x2x2xf32>
  return %r : tensor<1x2x2xf32>
}

// CHECK-LABEL: @ceil
// CHECK: nn.max_pool %arg0 {ceil_mode = true, dilations = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<1x2x5xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-LABEL: @ceil
// DECOMPOSE: [[V0:%.+]] = prim.reduce_window  max %arg0 {dilations = array<i64: 1, 1, 1>, pad_high = array<i64: 0, 0, 1>, pad_low = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 2>, window = array<i64: 1, 1, 2>} : (tensor<1x2x5xf32>) -> tensor<1x2x3xf32>
// DECOMPOSE-NEXT: return [[V0]] : tensor<1x2x3xf32>
func.func @ceil(%a: tensor<1x2x5xf32>) -> tensor<1x2x3xf32> {
  %r = nn.max_pool %a {ceil_mode = true, dilations = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<1x2x5xf32>) -> tensor<1x2x3xf32>
  return %r : tensor<1x2x3xf32>
}

// CHECK-LABEL: @ceil_one_window
// CHECK: nn.max_pool {{.*}} -> tensor<1x2x1xf32>
// DECOMPOSE-LABEL: @ceil_one_window
// DECOMPOSE: prim.reduce_window  max %arg0 {dilations = array<i64: 1, 1, 1>, pad_high = array<i64: 0, 0, 1>, pad_low = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 2>, window = array<i64: 1, 1, 3>} : (tensor<1x2x2xf32>) -> tensor<1x2x1xf32>
func.func @ceil_one_window(%a: tensor<1x2x2xf32>) -> tensor<1x2x1xf32> {
  %r = nn.max_pool %a {ceil_mode = true, dilations = array<i64: 1>, pad_high = array<i64: 0>, pad_low = array<i64: 0>, strides = array<i64: 2>, window = array<i64: 3>} : (tensor<1x2x2xf32>) -> tensor<1x2x1xf32>
  return %r : tensor<1x2x1xf32>
}

// CHECK-LABEL: @ceil_ends_inside
// CHECK: nn.max_pool %arg0 {ceil_mode = true, dilations = array<i64: 1>, pad_high = array<i64: 1>, pad_low = array<i64: 1>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<1x2x3xf32>) -> tensor<1x2x2xf32>
// DECOMPOSE-LABEL: @ceil_ends_inside
// DECOMPOSE: [[V0:%.+]] = prim.reduce_window  max %arg0 {dilations = array<i64: 1, 1, 1>, pad_high = array<i64: 0, 0, 0>, pad_low = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 2>, window = array<i64: 1, 1, 2>} : (tensor<1x2x3xf32>) -> tensor<1x2x2xf32>
// DECOMPOSE-NEXT: return [[V0]] : tensor<1x2x2xf32>
func.func @ceil_ends_inside(%a: tensor<1x2x3xf32>) -> tensor<1x2x2xf32> {
  %r = nn.max_pool %a {ceil_mode = true, dilations = array<i64: 1>, pad_high = array<i64: 1>, pad_low = array<i64: 1>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<1x2x3xf32>) -> tensor<1x2x2xf32>
  return %r : tensor<1x2x2xf32>
}
