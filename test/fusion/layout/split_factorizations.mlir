// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --split-factorizations=target=cuda | FileCheck %s

// Two blocks of columns and what is left: each less the products of those before it.
// CHECK-LABEL: @cholesky
// CHECK: prim.cholesky {{.*}} (tensor<2x32x32xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x34xf32>)
// CHECK: prim.dot_general {{.*}}full_precision{{.*}} : (tensor<2x34x32xf32>, tensor<2x32x32xf32>)
// CHECK: prim.cholesky {{.*}} (tensor<2x32x32xf32>)
// CHECK: prim.dot_general {{.*}} : (tensor<2x2x64xf32>, tensor<2x64x2xf32>)
// CHECK: prim.cholesky {{.*}} (tensor<2x2x2xf32>)
func.func @cholesky(%x: tensor<2x66x66xf32>) -> (tensor<2x66x66xf32>, tensor<2xi32>) {
  %ia = prim.iota {dimension = 1 : i64} : () -> tensor<2x66x66xi64>
  %ja = prim.iota {dimension = 2 : i64} : () -> tensor<2x66x66xi64>
  %ea = prim.compare eq %ia, %ja : (tensor<2x66x66xi64>, tensor<2x66x66xi64>) -> tensor<2x66x66xi1>
  %ca = prim.convert %ea : (tensor<2x66x66xi1>) -> tensor<2x66x66xf32>
  %p = prim.dot_general %x, %x {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>} : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %a = prim.add %p, %ca : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %l, %info = prim.cholesky %a {check_errors = false} : (tensor<2x66x66xf32>) -> (tensor<2x66x66xf32>, tensor<2xi32>)
  return %l, %info : tensor<2x66x66xf32>, tensor<2xi32>
}

// Of no positive definite matrix: NaN from where it is found, and which column that is.
// CHECK-LABEL: @not_positive_definite
// CHECK-COUNT-3: prim.cholesky
func.func @not_positive_definite(%x: tensor<2x66x66xf32>) -> (tensor<2x66x66xf32>, tensor<2xi32>) {
  %ia = prim.iota {dimension = 1 : i64} : () -> tensor<2x66x66xi64>
  %ja = prim.iota {dimension = 2 : i64} : () -> tensor<2x66x66xi64>
  %ea = prim.compare eq %ia, %ja : (tensor<2x66x66xi64>, tensor<2x66x66xi64>) -> tensor<2x66x66xi1>
  %ca = prim.convert %ea : (tensor<2x66x66xi1>) -> tensor<2x66x66xf32>
  %n = prim.constant dense<45> : tensor<2x66x66xi64>
  %s = prim.compare lt %ia, %n : (tensor<2x66x66xi64>, tensor<2x66x66xi64>) -> tensor<2x66x66xi1>
  %m = prim.neg %ca : (tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %a = prim.select %s, %ca, %m : (tensor<2x66x66xi1>, tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %l, %info = prim.cholesky %a {check_errors = false} : (tensor<2x66x66xf32>) -> (tensor<2x66x66xf32>, tensor<2xi32>)
  return %l, %info : tensor<2x66x66xf32>, tensor<2xi32>
}

// Rows change their places (the greatest elements lie from the lower left to the upper right), on both sides of a block.
// CHECK-LABEL: @lu
// CHECK: prim.lu {{.*}} (tensor<2x66x32xf32>)
// CHECK: prim.pivoted_rows {{.*}} (tensor<2x32xi32>) -> tensor<2x66xi64>
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x34xf32>)
// CHECK: prim.lu {{.*}} (tensor<2x34x32xf32>)
func.func @lu(%x: tensor<2x66x66xf32>) -> (tensor<2x66x66xf32>, tensor<2x66xi32>, tensor<2xi32>) {
  %i = prim.iota {dimension = 1 : i64} : () -> tensor<2x66x66xi64>
  %j = prim.iota {dimension = 2 : i64} : () -> tensor<2x66x66xi64>
  %k = prim.add %i, %j : (tensor<2x66x66xi64>, tensor<2x66x66xi64>) -> tensor<2x66x66xi64>
  %m = prim.constant dense<65> : tensor<2x66x66xi64>
  %e = prim.compare eq %k, %m : (tensor<2x66x66xi64>, tensor<2x66x66xi64>) -> tensor<2x66x66xi1>
  %c = prim.convert %e : (tensor<2x66x66xi1>) -> tensor<2x66x66xf32>
  %f = prim.constant dense<0.01> : tensor<2x66x66xf32>
  %y = prim.mul %x, %f : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %a = prim.add %y, %c : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %lu, %pivots, %info = prim.lu %a {check_errors = false} : (tensor<2x66x66xf32>) -> (tensor<2x66x66xf32>, tensor<2x66xi32>, tensor<2xi32>)
  return %lu, %pivots, %info : tensor<2x66x66xf32>, tensor<2x66xi32>, tensor<2xi32>
}

// CHECK-LABEL: @lu_wide
// CHECK: prim.lu {{.*}} (tensor<2x66x32xf32>)
// CHECK: prim.pivoted_rows {{.*}} (tensor<2x32xi32>) -> tensor<2x66xi64>
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x44xf32>)
// CHECK: prim.lu {{.*}} (tensor<2x34x32xf32>)
func.func @lu_wide(%x: tensor<2x66x76xf32>) -> (tensor<2x66x76xf32>, tensor<2x66xi32>, tensor<2xi32>) {
  %i = prim.iota {dimension = 1 : i64} : () -> tensor<2x66x76xi64>
  %j = prim.iota {dimension = 2 : i64} : () -> tensor<2x66x76xi64>
  %k = prim.add %i, %j : (tensor<2x66x76xi64>, tensor<2x66x76xi64>) -> tensor<2x66x76xi64>
  %m = prim.constant dense<65> : tensor<2x66x76xi64>
  %e = prim.compare eq %k, %m : (tensor<2x66x76xi64>, tensor<2x66x76xi64>) -> tensor<2x66x76xi1>
  %c = prim.convert %e : (tensor<2x66x76xi1>) -> tensor<2x66x76xf32>
  %f = prim.constant dense<0.01> : tensor<2x66x76xf32>
  %y = prim.mul %x, %f : (tensor<2x66x76xf32>, tensor<2x66x76xf32>) -> tensor<2x66x76xf32>
  %a = prim.add %y, %c : (tensor<2x66x76xf32>, tensor<2x66x76xf32>) -> tensor<2x66x76xf32>
  %lu, %pivots, %info = prim.lu %a {check_errors = false} : (tensor<2x66x76xf32>) -> (tensor<2x66x76xf32>, tensor<2x66xi32>, tensor<2xi32>)
  return %lu, %pivots, %info : tensor<2x66x76xf32>, tensor<2x66xi32>, tensor<2xi32>
}

// CHECK-LABEL: @lu_tall
// CHECK: prim.lu {{.*}} (tensor<2x86x32xf32>)
// CHECK: prim.pivoted_rows {{.*}} (tensor<2x32xi32>) -> tensor<2x86xi64>
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x34xf32>)
// CHECK: prim.lu {{.*}} (tensor<2x54x32xf32>)
func.func @lu_tall(%x: tensor<2x86x66xf32>) -> (tensor<2x86x66xf32>, tensor<2x66xi32>, tensor<2xi32>) {
  %i = prim.iota {dimension = 1 : i64} : () -> tensor<2x86x66xi64>
  %j = prim.iota {dimension = 2 : i64} : () -> tensor<2x86x66xi64>
  %k = prim.add %i, %j : (tensor<2x86x66xi64>, tensor<2x86x66xi64>) -> tensor<2x86x66xi64>
  %m = prim.constant dense<85> : tensor<2x86x66xi64>
  %e = prim.compare eq %k, %m : (tensor<2x86x66xi64>, tensor<2x86x66xi64>) -> tensor<2x86x66xi1>
  %c = prim.convert %e : (tensor<2x86x66xi1>) -> tensor<2x86x66xf32>
  %f = prim.constant dense<0.01> : tensor<2x86x66xf32>
  %y = prim.mul %x, %f : (tensor<2x86x66xf32>, tensor<2x86x66xf32>) -> tensor<2x86x66xf32>
  %a = prim.add %y, %c : (tensor<2x86x66xf32>, tensor<2x86x66xf32>) -> tensor<2x86x66xf32>
  %lu, %pivots, %info = prim.lu %a {check_errors = false} : (tensor<2x86x66xf32>) -> (tensor<2x86x66xf32>, tensor<2x66xi32>, tensor<2xi32>)
  return %lu, %pivots, %info : tensor<2x86x66xf32>, tensor<2x66xi32>, tensor<2xi32>
}

// CHECK-LABEL: @lu_whole_blocks
// CHECK: prim.lu {{.*}} (tensor<2x64x32xf32>)
// CHECK: prim.pivoted_rows {{.*}} (tensor<2x32xi32>) -> tensor<2x64xi64>
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x104xf32>)
// CHECK: prim.lu {{.*}} (tensor<2x32x32xf32>)
func.func @lu_whole_blocks(%x: tensor<2x64x136xf32>) -> (tensor<2x64x136xf32>, tensor<2x64xi32>, tensor<2xi32>) {
  %i = prim.iota {dimension = 1 : i64} : () -> tensor<2x64x136xi64>
  %j = prim.iota {dimension = 2 : i64} : () -> tensor<2x64x136xi64>
  %k = prim.add %i, %j : (tensor<2x64x136xi64>, tensor<2x64x136xi64>) -> tensor<2x64x136xi64>
  %m = prim.constant dense<63> : tensor<2x64x136xi64>
  %e = prim.compare eq %k, %m : (tensor<2x64x136xi64>, tensor<2x64x136xi64>) -> tensor<2x64x136xi1>
  %c = prim.convert %e : (tensor<2x64x136xi1>) -> tensor<2x64x136xf32>
  %f = prim.constant dense<0.01> : tensor<2x64x136xf32>
  %y = prim.mul %x, %f : (tensor<2x64x136xf32>, tensor<2x64x136xf32>) -> tensor<2x64x136xf32>
  %a = prim.add %y, %c : (tensor<2x64x136xf32>, tensor<2x64x136xf32>) -> tensor<2x64x136xf32>
  %lu, %pivots, %info = prim.lu %a {check_errors = false} : (tensor<2x64x136xf32>) -> (tensor<2x64x136xf32>, tensor<2x64xi32>, tensor<2xi32>)
  return %lu, %pivots, %info : tensor<2x64x136xf32>, tensor<2x64xi32>, tensor<2xi32>
}

// CHECK-LABEL: @solve_upper_false_transposed_false_unit_false(
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x2x2xf32>, tensor<2x2x3xf32>)
// CHECK: prim.concatenate
func.func @solve_upper_false_transposed_false_unit_false(%x: tensor<2x66x66xf32>, %b: tensor<2x66x3xf32>) -> tensor<2x66x3xf32> {
  %ia = prim.iota {dimension = 1 : i64} : () -> tensor<2x66x66xi64>
  %ja = prim.iota {dimension = 2 : i64} : () -> tensor<2x66x66xi64>
  %ea = prim.compare eq %ia, %ja : (tensor<2x66x66xi64>, tensor<2x66x66xi64>) -> tensor<2x66x66xi1>
  %ca = prim.convert %ea : (tensor<2x66x66xi1>) -> tensor<2x66x66xf32>
  %f = prim.constant dense<0.01> : tensor<2x66x66xf32>
  %y = prim.mul %x, %f : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %a = prim.add %y, %ca : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %s = prim.triangular_solve %a, %b {upper = false, transpose = false, unit = false} : (tensor<2x66x66xf32>, tensor<2x66x3xf32>) -> tensor<2x66x3xf32>
  return %s : tensor<2x66x3xf32>
}

// CHECK-LABEL: @solve_upper_false_transposed_false_unit_true(
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x2x2xf32>, tensor<2x2x3xf32>)
// CHECK: prim.concatenate
func.func @solve_upper_false_transposed_false_unit_true(%x: tensor<2x66x66xf32>, %b: tensor<2x66x3xf32>) -> tensor<2x66x3xf32> {
  %ia = prim.iota {dimension = 1 : i64} : () -> tensor<2x66x66xi64>
  %ja = prim.iota {dimension = 2 : i64} : () -> tensor<2x66x66xi64>
  %ea = prim.compare eq %ia, %ja : (tensor<2x66x66xi64>, tensor<2x66x66xi64>) -> tensor<2x66x66xi1>
  %ca = prim.convert %ea : (tensor<2x66x66xi1>) -> tensor<2x66x66xf32>
  %f = prim.constant dense<0.01> : tensor<2x66x66xf32>
  %y = prim.mul %x, %f : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %a = prim.add %y, %ca : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %s = prim.triangular_solve %a, %b {upper = false, transpose = false, unit = true} : (tensor<2x66x66xf32>, tensor<2x66x3xf32>) -> tensor<2x66x3xf32>
  return %s : tensor<2x66x3xf32>
}

// CHECK-LABEL: @solve_upper_false_transposed_true_unit_false(
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x2x2xf32>, tensor<2x2x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.concatenate
func.func @solve_upper_false_transposed_true_unit_false(%x: tensor<2x66x66xf32>, %b: tensor<2x66x3xf32>) -> tensor<2x66x3xf32> {
  %ia = prim.iota {dimension = 1 : i64} : () -> tensor<2x66x66xi64>
  %ja = prim.iota {dimension = 2 : i64} : () -> tensor<2x66x66xi64>
  %ea = prim.compare eq %ia, %ja : (tensor<2x66x66xi64>, tensor<2x66x66xi64>) -> tensor<2x66x66xi1>
  %ca = prim.convert %ea : (tensor<2x66x66xi1>) -> tensor<2x66x66xf32>
  %f = prim.constant dense<0.01> : tensor<2x66x66xf32>
  %y = prim.mul %x, %f : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %a = prim.add %y, %ca : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %s = prim.triangular_solve %a, %b {upper = false, transpose = true, unit = false} : (tensor<2x66x66xf32>, tensor<2x66x3xf32>) -> tensor<2x66x3xf32>
  return %s : tensor<2x66x3xf32>
}

// CHECK-LABEL: @solve_upper_false_transposed_true_unit_true(
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x2x2xf32>, tensor<2x2x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.concatenate
func.func @solve_upper_false_transposed_true_unit_true(%x: tensor<2x66x66xf32>, %b: tensor<2x66x3xf32>) -> tensor<2x66x3xf32> {
  %ia = prim.iota {dimension = 1 : i64} : () -> tensor<2x66x66xi64>
  %ja = prim.iota {dimension = 2 : i64} : () -> tensor<2x66x66xi64>
  %ea = prim.compare eq %ia, %ja : (tensor<2x66x66xi64>, tensor<2x66x66xi64>) -> tensor<2x66x66xi1>
  %ca = prim.convert %ea : (tensor<2x66x66xi1>) -> tensor<2x66x66xf32>
  %f = prim.constant dense<0.01> : tensor<2x66x66xf32>
  %y = prim.mul %x, %f : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %a = prim.add %y, %ca : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %s = prim.triangular_solve %a, %b {upper = false, transpose = true, unit = true} : (tensor<2x66x66xf32>, tensor<2x66x3xf32>) -> tensor<2x66x3xf32>
  return %s : tensor<2x66x3xf32>
}

// CHECK-LABEL: @solve_upper_true_transposed_false_unit_false(
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x2x2xf32>, tensor<2x2x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.concatenate
func.func @solve_upper_true_transposed_false_unit_false(%x: tensor<2x66x66xf32>, %b: tensor<2x66x3xf32>) -> tensor<2x66x3xf32> {
  %ia = prim.iota {dimension = 1 : i64} : () -> tensor<2x66x66xi64>
  %ja = prim.iota {dimension = 2 : i64} : () -> tensor<2x66x66xi64>
  %ea = prim.compare eq %ia, %ja : (tensor<2x66x66xi64>, tensor<2x66x66xi64>) -> tensor<2x66x66xi1>
  %ca = prim.convert %ea : (tensor<2x66x66xi1>) -> tensor<2x66x66xf32>
  %f = prim.constant dense<0.01> : tensor<2x66x66xf32>
  %y = prim.mul %x, %f : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %a = prim.add %y, %ca : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %s = prim.triangular_solve %a, %b {upper = true, transpose = false, unit = false} : (tensor<2x66x66xf32>, tensor<2x66x3xf32>) -> tensor<2x66x3xf32>
  return %s : tensor<2x66x3xf32>
}

// CHECK-LABEL: @solve_upper_true_transposed_false_unit_true(
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x2x2xf32>, tensor<2x2x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.concatenate
func.func @solve_upper_true_transposed_false_unit_true(%x: tensor<2x66x66xf32>, %b: tensor<2x66x3xf32>) -> tensor<2x66x3xf32> {
  %ia = prim.iota {dimension = 1 : i64} : () -> tensor<2x66x66xi64>
  %ja = prim.iota {dimension = 2 : i64} : () -> tensor<2x66x66xi64>
  %ea = prim.compare eq %ia, %ja : (tensor<2x66x66xi64>, tensor<2x66x66xi64>) -> tensor<2x66x66xi1>
  %ca = prim.convert %ea : (tensor<2x66x66xi1>) -> tensor<2x66x66xf32>
  %f = prim.constant dense<0.01> : tensor<2x66x66xf32>
  %y = prim.mul %x, %f : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %a = prim.add %y, %ca : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %s = prim.triangular_solve %a, %b {upper = true, transpose = false, unit = true} : (tensor<2x66x66xf32>, tensor<2x66x3xf32>) -> tensor<2x66x3xf32>
  return %s : tensor<2x66x3xf32>
}

// CHECK-LABEL: @solve_upper_true_transposed_true_unit_false(
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x2x2xf32>, tensor<2x2x3xf32>)
// CHECK: prim.concatenate
func.func @solve_upper_true_transposed_true_unit_false(%x: tensor<2x66x66xf32>, %b: tensor<2x66x3xf32>) -> tensor<2x66x3xf32> {
  %ia = prim.iota {dimension = 1 : i64} : () -> tensor<2x66x66xi64>
  %ja = prim.iota {dimension = 2 : i64} : () -> tensor<2x66x66xi64>
  %ea = prim.compare eq %ia, %ja : (tensor<2x66x66xi64>, tensor<2x66x66xi64>) -> tensor<2x66x66xi1>
  %ca = prim.convert %ea : (tensor<2x66x66xi1>) -> tensor<2x66x66xf32>
  %f = prim.constant dense<0.01> : tensor<2x66x66xf32>
  %y = prim.mul %x, %f : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %a = prim.add %y, %ca : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %s = prim.triangular_solve %a, %b {upper = true, transpose = true, unit = false} : (tensor<2x66x66xf32>, tensor<2x66x3xf32>) -> tensor<2x66x3xf32>
  return %s : tensor<2x66x3xf32>
}

// CHECK-LABEL: @solve_upper_true_transposed_true_unit_true(
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x32x32xf32>, tensor<2x32x3xf32>)
// CHECK: prim.triangular_solve {{.*}} : (tensor<2x2x2xf32>, tensor<2x2x3xf32>)
// CHECK: prim.concatenate
func.func @solve_upper_true_transposed_true_unit_true(%x: tensor<2x66x66xf32>, %b: tensor<2x66x3xf32>) -> tensor<2x66x3xf32> {
  %ia = prim.iota {dimension = 1 : i64} : () -> tensor<2x66x66xi64>
  %ja = prim.iota {dimension = 2 : i64} : () -> tensor<2x66x66xi64>
  %ea = prim.compare eq %ia, %ja : (tensor<2x66x66xi64>, tensor<2x66x66xi64>) -> tensor<2x66x66xi1>
  %ca = prim.convert %ea : (tensor<2x66x66xi1>) -> tensor<2x66x66xf32>
  %f = prim.constant dense<0.01> : tensor<2x66x66xf32>
  %y = prim.mul %x, %f : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %a = prim.add %y, %ca : (tensor<2x66x66xf32>, tensor<2x66x66xf32>) -> tensor<2x66x66xf32>
  %s = prim.triangular_solve %a, %b {upper = true, transpose = true, unit = true} : (tensor<2x66x66xf32>, tensor<2x66x3xf32>) -> tensor<2x66x3xf32>
  return %s : tensor<2x66x3xf32>
}

// One block and a part of another are left to the kernel.
// CHECK-LABEL: @small
// CHECK-NOT: prim.dot_general
// CHECK: return
func.func @small(%a: tensor<3x63x63xf32>) -> (tensor<3x63x63xf32>, tensor<3xi32>) {
  %l, %info = prim.cholesky %a {check_errors = true} : (tensor<3x63x63xf32>) -> (tensor<3x63x63xf32>, tensor<3xi32>)
  return %l, %info : tensor<3x63x63xf32>, tensor<3xi32>
}
