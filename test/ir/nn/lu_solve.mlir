// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s
// RUN: accc-opt %s --decompose | FileCheck %s --check-prefix=DECOMPOSE

// The rows of b change their places as those of a did; then the lower and the upper factor.
// CHECK-LABEL: @solution
// CHECK: nn.lu_solve %arg0, %arg1, %arg2, %arg3 {transpose = false} : (tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// DECOMPOSE-LABEL: @solution
// DECOMPOSE: prim.pivoted_rows %arg2
// DECOMPOSE: prim.gather
// DECOMPOSE: prim.triangular_solve %arg1, {{.*}} {transpose = false, unit = true, upper = false}
// DECOMPOSE: prim.triangular_solve %arg1, {{.*}} {transpose = false, unit = false, upper = true}
func.func @solution(%a: tensor<2x3x3xf32>, %lu: tensor<2x3x3xf32>, %pivots: tensor<2x3xi32>, %b: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %x = nn.lu_solve %a, %lu, %pivots, %b {transpose = false} : (tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x3xi32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %x : tensor<2x3x4xf32>
}

// Of the transposed matrix the other way round.
// DECOMPOSE-LABEL: @transposed
// DECOMPOSE: prim.triangular_solve %arg1, %arg3 {transpose = true, unit = false, upper = true}
// DECOMPOSE: prim.triangular_solve %arg1, {{.*}} {transpose = true, unit = true, upper = false}
// DECOMPOSE: prim.scatter
func.func @transposed(%a: tensor<1x3x3xf64>, %lu: tensor<1x3x3xf64>, %pivots: tensor<1x3xi32>, %b: tensor<1x3x1xf64>) -> tensor<1x3x1xf64> {
  %x = nn.lu_solve %a, %lu, %pivots, %b {transpose = true} : (tensor<1x3x3xf64>, tensor<1x3x3xf64>, tensor<1x3xi32>, tensor<1x3x1xf64>) -> tensor<1x3x1xf64>
  return %x : tensor<1x3x1xf64>
}
