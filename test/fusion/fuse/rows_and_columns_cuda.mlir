// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --split-reductions=target=cuda --form-fusions=target=cuda | FileCheck %s
// UNSUPPORTED: small-thresholds

// The gradient of an RMS norm: one kernel reads x and dy, gives dx, and the parts of the scale's and bias's gradients.
// CHECK-LABEL: @norm_backward
// CHECK-NEXT: %[[K:.*]]:3 = prim.fusion reduce {{.*}} -> ({{.*}}tensor<8x128x768xf32>{{.*}}) walks <extents = [1, 1024, 768], reduced = [2], levels = [0, {{.*}}0, 0], depths =
// CHECK-COUNT-1: prim.reduce sum {{.*}} {dimensions = array<i64: 2>}
// CHECK-COUNT-2: prim.reduce sum {{.*}} {dimensions = array<i64: 1>} : (tensor<256x4x768xf32>) -> tensor<256x768xf32>
// CHECK-COUNT-1: prim.fusion reduce "reduce"(%[[K]]#{{[12]}}, %[[K]]#{{[12]}})
// CHECK-NOT: prim.fusion
func.func @norm_backward(%x: tensor<8x128x768xf32>, %dy: tensor<1024x768xf32>, %r: tensor<8x128xf32>, %g: tensor<768xf32>) -> (tensor<8x128x768xf32>, tensor<768xf32>, tensor<768xf32>) {
  %d = prim.reshape %dy : (tensor<1024x768xf32>) -> tensor<8x128x768xf32>
  %rb = prim.broadcast %r {dimensions = array<i64: 0, 1>} : (tensor<8x128xf32>) -> tensor<8x128x768xf32>
  %gb = prim.broadcast %g {dimensions = array<i64: 2>} : (tensor<768xf32>) -> tensor<8x128x768xf32>
  %n = prim.mul %x, %rb : (tensor<8x128x768xf32>, tensor<8x128x768xf32>) -> tensor<8x128x768xf32>
  %p = prim.mul %d, %gb : (tensor<8x128x768xf32>, tensor<8x128x768xf32>) -> tensor<8x128x768xf32>
  %q = prim.mul %p, %n : (tensor<8x128x768xf32>, tensor<8x128x768xf32>) -> tensor<8x128x768xf32>
  %s = prim.reduce sum %q {dimensions = array<i64: 2>} : (tensor<8x128x768xf32>) -> tensor<8x128xf32>
  %sb = prim.broadcast %s {dimensions = array<i64: 0, 1>} : (tensor<8x128xf32>) -> tensor<8x128x768xf32>
  %t = prim.mul %n, %sb : (tensor<8x128x768xf32>, tensor<8x128x768xf32>) -> tensor<8x128x768xf32>
  %dx = prim.sub %p, %t : (tensor<8x128x768xf32>, tensor<8x128x768xf32>) -> tensor<8x128x768xf32>
  %m = prim.mul %d, %n : (tensor<8x128x768xf32>, tensor<8x128x768xf32>) -> tensor<8x128x768xf32>
  %dg = prim.reduce sum %m {dimensions = array<i64: 0, 1>} : (tensor<8x128x768xf32>) -> tensor<768xf32>
  %db = prim.reduce sum %dy {dimensions = array<i64: 0>} : (tensor<1024x768xf32>) -> tensor<768xf32>
  return %dx, %dg, %db : tensor<8x128x768xf32>, tensor<768xf32>, tensor<768xf32>
}

// Strips of another length than the target's would leave most of a GPU idle: two kernels.
// CHECK-LABEL: @two_strips
// CHECK-COUNT-2: prim.fusion reduce
func.func @two_strips(%x: tensor<2x4096x64xf32>) -> (tensor<2x4096xf32>, tensor<2x64xf32>) {
  %0 = prim.reduce sum %x {dimensions = array<i64: 2>} : (tensor<2x4096x64xf32>) -> tensor<2x4096xf32>
  %1 = prim.reduce sum %x {dimensions = array<i64: 1>} : (tensor<2x4096x64xf32>) -> tensor<2x64xf32>
  return %0, %1 : tensor<2x4096xf32>, tensor<2x64xf32>
}
