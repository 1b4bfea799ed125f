// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --compute-counts=target=cuda | FileCheck %s
// RUN: accc-opt %s --compute-counts | FileCheck %s --check-prefix=CPU

// A causal mask: positions of columns and of rows.
// CHECK-LABEL: @mask
// CHECK-DAG: prim.iota {dimension = 1 : i64} : () -> tensor<1x4xi64>
// CHECK-DAG: prim.iota {dimension = 0 : i64} : () -> tensor<4x1xi64>
// CHECK: prim.compare
// CPU-LABEL: @mask
// CPU-NOT: prim.iota
func.func @mask() -> tensor<4x4xi1> {
  %c = prim.constant dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>
  %r = prim.constant dense<[[0], [1], [2], [3]]> : tensor<4x1xi64>
  %0 = prim.broadcast %c {dimensions = array<i64: 0, 1>} : (tensor<1x4xi64>) -> tensor<4x4xi64>
  %1 = prim.broadcast %r {dimensions = array<i64: 0, 1>} : (tensor<4x1xi64>) -> tensor<4x4xi64>
  %2 = prim.compare le %0, %1 : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi1>
  return %2 : tensor<4x4xi1>
}

// In every row of several.
// CHECK-LABEL: @rows
// CHECK: %[[I:.*]] = prim.iota {dimension = 1 : i64} : () -> tensor<2x3xi32>
// CHECK: prim.add %arg0, %[[I]]
func.func @rows(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %c = prim.constant dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>
  %0 = prim.add %x, %c : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}

// They end otherwise, go on in the next row, begin with 1, differ from row to row; the last one is the caller's.
// CHECK-LABEL: @others
// CHECK-NOT: prim.iota
func.func @others(%x: tensor<4xi32>, %y: tensor<2x2xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<2x2xi32>, tensor<4xi32>) {
  %a = prim.constant dense<[0, 1, 2, 4]> : tensor<4xi32>
  %b = prim.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %c = prim.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %d = prim.constant dense<[[0, 1], [0, 2]]> : tensor<2x2xi32>
  %e = prim.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %0 = prim.add %x, %a : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = prim.add %y, %b : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %2 = prim.add %x, %c : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %3 = prim.add %1, %d : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  return %0, %2, %3, %e : tensor<4xi32>, tensor<4xi32>, tensor<2x2xi32>, tensor<4xi32>
}
