// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors of matrices whose diagonals dominate, so that pivots, signs and orders are clear.
#include "kernels/CheckCases.h"

#include <catch2/catch.hpp>

#include <utility>

using accc::test::KernelCase;

// clang-format off
static const KernelCase kCases[] = {
  {"cholesky_5_f32", R"(func.func @f(%a: tensor<3x5x5xf32>) -> (tensor<3x5x5xf32>, tensor<3xi32>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<3x5x5xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<3x5x5xi64>
    %e = prim.compare eq %i, %j : (tensor<3x5x5xi64>, tensor<3x5x5xi64>) -> tensor<3x5x5xi1>
    %n = prim.convert %i : (tensor<3x5x5xi64>) -> tensor<3x5x5xf32>
    %o = prim.constant dense<10.0> : tensor<3x5x5xf32>
    %p = prim.add %n, %o : (tensor<3x5x5xf32>, tensor<3x5x5xf32>) -> tensor<3x5x5xf32>
    %q = prim.add %a, %p : (tensor<3x5x5xf32>, tensor<3x5x5xf32>) -> tensor<3x5x5xf32>
    %m = prim.select %e, %q, %a : (tensor<3x5x5xi1>, tensor<3x5x5xf32>, tensor<3x5x5xf32>) -> tensor<3x5x5xf32>
    %0:2 = prim.cholesky %m {check_errors = true} : (tensor<3x5x5xf32>) -> (tensor<3x5x5xf32>, tensor<3xi32>)
    return %0#0, %0#1 : tensor<3x5x5xf32>, tensor<3xi32> })", 1, 1e-4},
  {"lu_5_f32", R"(func.func @f(%a: tensor<3x5x5xf32>, %b: tensor<3x5x7xf32>) -> (tensor<3x5x5xf32>, tensor<3x5xi64>, tensor<3x5x7xf32>, tensor<3x5x7xf32>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<3x5x5xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<3x5x5xi64>
    %e = prim.compare eq %i, %j : (tensor<3x5x5xi64>, tensor<3x5x5xi64>) -> tensor<3x5x5xi1>
    %n = prim.convert %i : (tensor<3x5x5xi64>) -> tensor<3x5x5xf32>
    %o = prim.constant dense<5.0> : tensor<3x5x5xf32>
    %p = prim.add %n, %o : (tensor<3x5x5xf32>, tensor<3x5x5xf32>) -> tensor<3x5x5xf32>
    %q = prim.add %a, %p : (tensor<3x5x5xf32>, tensor<3x5x5xf32>) -> tensor<3x5x5xf32>
    %m = prim.select %e, %q, %a : (tensor<3x5x5xi1>, tensor<3x5x5xf32>, tensor<3x5x5xf32>) -> tensor<3x5x5xf32>
    %r = prim.reverse %m {dimensions = array<i64: 1>} : (tensor<3x5x5xf32>) -> tensor<3x5x5xf32>
    %0:3 = prim.lu %r {check_errors = true} : (tensor<3x5x5xf32>) -> (tensor<3x5x5xf32>, tensor<3x5xi32>, tensor<3xi32>)
    %1 = prim.pivoted_rows %0#1 {rows = 5 : i64} : (tensor<3x5xi32>) -> tensor<3x5xi64>
    %2 = prim.triangular_solve %0#0, %b {upper = true, transpose = false, unit = false} : (tensor<3x5x5xf32>, tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
    %3 = prim.triangular_solve %0#0, %b {upper = false, transpose = true, unit = true} : (tensor<3x5x5xf32>, tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
    return %0#0, %1, %2, %3 : tensor<3x5x5xf32>, tensor<3x5xi64>, tensor<3x5x7xf32>, tensor<3x5x7xf32> })", 1, 1e-4},
  {"householder_5_f32", R"(func.func @f(%a: tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<2x5x8xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<2x5x8xi64>
    %e = prim.compare eq %i, %j : (tensor<2x5x8xi64>, tensor<2x5x8xi64>) -> tensor<2x5x8xi1>
    %n = prim.convert %i : (tensor<2x5x8xi64>) -> tensor<2x5x8xf32>
    %o = prim.constant dense<5.0> : tensor<2x5x8xf32>
    %p = prim.add %n, %o : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
    %q = prim.add %a, %p : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
    %m = prim.select %e, %q, %a : (tensor<2x5x8xi1>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
    %0:2 = prim.householder %m : (tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>)
    return %0#0, %0#1 : tensor<2x5x8xf32>, tensor<2x5xf32> })", 1, 1e-4},
  {"cholesky_40_f32", R"(func.func @f(%a: tensor<3x40x40xf32>) -> (tensor<3x40x40xf32>, tensor<3xi32>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<3x40x40xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<3x40x40xi64>
    %e = prim.compare eq %i, %j : (tensor<3x40x40xi64>, tensor<3x40x40xi64>) -> tensor<3x40x40xi1>
    %n = prim.convert %i : (tensor<3x40x40xi64>) -> tensor<3x40x40xf32>
    %o = prim.constant dense<80.0> : tensor<3x40x40xf32>
    %p = prim.add %n, %o : (tensor<3x40x40xf32>, tensor<3x40x40xf32>) -> tensor<3x40x40xf32>
    %q = prim.add %a, %p : (tensor<3x40x40xf32>, tensor<3x40x40xf32>) -> tensor<3x40x40xf32>
    %m = prim.select %e, %q, %a : (tensor<3x40x40xi1>, tensor<3x40x40xf32>, tensor<3x40x40xf32>) -> tensor<3x40x40xf32>
    %0:2 = prim.cholesky %m {check_errors = true} : (tensor<3x40x40xf32>) -> (tensor<3x40x40xf32>, tensor<3xi32>)
    return %0#0, %0#1 : tensor<3x40x40xf32>, tensor<3xi32> })", 1, 1e-4},
  {"lu_40_f32", R"(func.func @f(%a: tensor<3x40x40xf32>, %b: tensor<3x40x7xf32>) -> (tensor<3x40x40xf32>, tensor<3x40xi64>, tensor<3x40x7xf32>, tensor<3x40x7xf32>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<3x40x40xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<3x40x40xi64>
    %e = prim.compare eq %i, %j : (tensor<3x40x40xi64>, tensor<3x40x40xi64>) -> tensor<3x40x40xi1>
    %n = prim.convert %i : (tensor<3x40x40xi64>) -> tensor<3x40x40xf32>
    %o = prim.constant dense<40.0> : tensor<3x40x40xf32>
    %p = prim.add %n, %o : (tensor<3x40x40xf32>, tensor<3x40x40xf32>) -> tensor<3x40x40xf32>
    %q = prim.add %a, %p : (tensor<3x40x40xf32>, tensor<3x40x40xf32>) -> tensor<3x40x40xf32>
    %m = prim.select %e, %q, %a : (tensor<3x40x40xi1>, tensor<3x40x40xf32>, tensor<3x40x40xf32>) -> tensor<3x40x40xf32>
    %r = prim.reverse %m {dimensions = array<i64: 1>} : (tensor<3x40x40xf32>) -> tensor<3x40x40xf32>
    %0:3 = prim.lu %r {check_errors = true} : (tensor<3x40x40xf32>) -> (tensor<3x40x40xf32>, tensor<3x40xi32>, tensor<3xi32>)
    %1 = prim.pivoted_rows %0#1 {rows = 40 : i64} : (tensor<3x40xi32>) -> tensor<3x40xi64>
    %2 = prim.triangular_solve %0#0, %b {upper = true, transpose = false, unit = false} : (tensor<3x40x40xf32>, tensor<3x40x7xf32>) -> tensor<3x40x7xf32>
    %3 = prim.triangular_solve %0#0, %b {upper = false, transpose = true, unit = true} : (tensor<3x40x40xf32>, tensor<3x40x7xf32>) -> tensor<3x40x7xf32>
    return %0#0, %1, %2, %3 : tensor<3x40x40xf32>, tensor<3x40xi64>, tensor<3x40x7xf32>, tensor<3x40x7xf32> })", 1, 1e-4},
  {"householder_40_f32", R"(func.func @f(%a: tensor<2x40x43xf32>) -> (tensor<2x40x43xf32>, tensor<2x40xf32>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<2x40x43xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<2x40x43xi64>
    %e = prim.compare eq %i, %j : (tensor<2x40x43xi64>, tensor<2x40x43xi64>) -> tensor<2x40x43xi1>
    %n = prim.convert %i : (tensor<2x40x43xi64>) -> tensor<2x40x43xf32>
    %o = prim.constant dense<40.0> : tensor<2x40x43xf32>
    %p = prim.add %n, %o : (tensor<2x40x43xf32>, tensor<2x40x43xf32>) -> tensor<2x40x43xf32>
    %q = prim.add %a, %p : (tensor<2x40x43xf32>, tensor<2x40x43xf32>) -> tensor<2x40x43xf32>
    %m = prim.select %e, %q, %a : (tensor<2x40x43xi1>, tensor<2x40x43xf32>, tensor<2x40x43xf32>) -> tensor<2x40x43xf32>
    %0:2 = prim.householder %m : (tensor<2x40x43xf32>) -> (tensor<2x40x43xf32>, tensor<2x40xf32>)
    return %0#0, %0#1 : tensor<2x40x43xf32>, tensor<2x40xf32> })", 1, 1e-4},
  {"jacobi_eigh_f32", R"(func.func @f(%a: tensor<3x9x9xf32>) -> (tensor<3x9x9xf32>, tensor<3x9x9xf32>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<3x9x9xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<3x9x9xi64>
    %e = prim.compare eq %i, %j : (tensor<3x9x9xi64>, tensor<3x9x9xi64>) -> tensor<3x9x9xi1>
    %n = prim.convert %i : (tensor<3x9x9xi64>) -> tensor<3x9x9xf32>
    %o = prim.constant dense<4.0> : tensor<3x9x9xf32>
    %p = prim.add %n, %o : (tensor<3x9x9xf32>, tensor<3x9x9xf32>) -> tensor<3x9x9xf32>
    %q = prim.add %a, %p : (tensor<3x9x9xf32>, tensor<3x9x9xf32>) -> tensor<3x9x9xf32>
    %m = prim.select %e, %q, %a : (tensor<3x9x9xi1>, tensor<3x9x9xf32>, tensor<3x9x9xf32>) -> tensor<3x9x9xf32>
    %0:2 = prim.jacobi_eigh %m : (tensor<3x9x9xf32>) -> (tensor<3x9x9xf32>, tensor<3x9x9xf32>)
    return %0#0, %0#1 : tensor<3x9x9xf32>, tensor<3x9x9xf32> })", 1, 1e-4},
  {"jacobi_svd_f32", R"(func.func @f(%a: tensor<2x9x12xf32>) -> (tensor<2x9x12xf32>, tensor<2x9x9xf32>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<2x9x12xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<2x9x12xi64>
    %e = prim.compare eq %i, %j : (tensor<2x9x12xi64>, tensor<2x9x12xi64>) -> tensor<2x9x12xi1>
    %n = prim.convert %i : (tensor<2x9x12xi64>) -> tensor<2x9x12xf32>
    %o = prim.constant dense<4.0> : tensor<2x9x12xf32>
    %p = prim.add %n, %o : (tensor<2x9x12xf32>, tensor<2x9x12xf32>) -> tensor<2x9x12xf32>
    %q = prim.add %a, %p : (tensor<2x9x12xf32>, tensor<2x9x12xf32>) -> tensor<2x9x12xf32>
    %m = prim.select %e, %q, %a : (tensor<2x9x12xi1>, tensor<2x9x12xf32>, tensor<2x9x12xf32>) -> tensor<2x9x12xf32>
    %0:2 = prim.jacobi_svd %m : (tensor<2x9x12xf32>) -> (tensor<2x9x12xf32>, tensor<2x9x9xf32>)
    return %0#0, %0#1 : tensor<2x9x12xf32>, tensor<2x9x9xf32> })", 1, 1e-4},
  {"cholesky_5_f64", R"(func.func @f(%a: tensor<3x5x5xf64>) -> (tensor<3x5x5xf64>, tensor<3xi32>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<3x5x5xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<3x5x5xi64>
    %e = prim.compare eq %i, %j : (tensor<3x5x5xi64>, tensor<3x5x5xi64>) -> tensor<3x5x5xi1>
    %n = prim.convert %i : (tensor<3x5x5xi64>) -> tensor<3x5x5xf64>
    %o = prim.constant dense<10.0> : tensor<3x5x5xf64>
    %p = prim.add %n, %o : (tensor<3x5x5xf64>, tensor<3x5x5xf64>) -> tensor<3x5x5xf64>
    %q = prim.add %a, %p : (tensor<3x5x5xf64>, tensor<3x5x5xf64>) -> tensor<3x5x5xf64>
    %m = prim.select %e, %q, %a : (tensor<3x5x5xi1>, tensor<3x5x5xf64>, tensor<3x5x5xf64>) -> tensor<3x5x5xf64>
    %0:2 = prim.cholesky %m {check_errors = true} : (tensor<3x5x5xf64>) -> (tensor<3x5x5xf64>, tensor<3xi32>)
    return %0#0, %0#1 : tensor<3x5x5xf64>, tensor<3xi32> })", 1, 1e-11},
  {"lu_5_f64", R"(func.func @f(%a: tensor<3x5x5xf64>, %b: tensor<3x5x7xf64>) -> (tensor<3x5x5xf64>, tensor<3x5xi64>, tensor<3x5x7xf64>, tensor<3x5x7xf64>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<3x5x5xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<3x5x5xi64>
    %e = prim.compare eq %i, %j : (tensor<3x5x5xi64>, tensor<3x5x5xi64>) -> tensor<3x5x5xi1>
    %n = prim.convert %i : (tensor<3x5x5xi64>) -> tensor<3x5x5xf64>
    %o = prim.constant dense<5.0> : tensor<3x5x5xf64>
    %p = prim.add %n, %o : (tensor<3x5x5xf64>, tensor<3x5x5xf64>) -> tensor<3x5x5xf64>
    %q = prim.add %a, %p : (tensor<3x5x5xf64>, tensor<3x5x5xf64>) -> tensor<3x5x5xf64>
    %m = prim.select %e, %q, %a : (tensor<3x5x5xi1>, tensor<3x5x5xf64>, tensor<3x5x5xf64>) -> tensor<3x5x5xf64>
    %r = prim.reverse %m {dimensions = array<i64: 1>} : (tensor<3x5x5xf64>) -> tensor<3x5x5xf64>
    %0:3 = prim.lu %r {check_errors = true} : (tensor<3x5x5xf64>) -> (tensor<3x5x5xf64>, tensor<3x5xi32>, tensor<3xi32>)
    %1 = prim.pivoted_rows %0#1 {rows = 5 : i64} : (tensor<3x5xi32>) -> tensor<3x5xi64>
    %2 = prim.triangular_solve %0#0, %b {upper = true, transpose = false, unit = false} : (tensor<3x5x5xf64>, tensor<3x5x7xf64>) -> tensor<3x5x7xf64>
    %3 = prim.triangular_solve %0#0, %b {upper = false, transpose = true, unit = true} : (tensor<3x5x5xf64>, tensor<3x5x7xf64>) -> tensor<3x5x7xf64>
    return %0#0, %1, %2, %3 : tensor<3x5x5xf64>, tensor<3x5xi64>, tensor<3x5x7xf64>, tensor<3x5x7xf64> })", 1, 1e-11},
  {"householder_5_f64", R"(func.func @f(%a: tensor<2x5x8xf64>) -> (tensor<2x5x8xf64>, tensor<2x5xf64>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<2x5x8xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<2x5x8xi64>
    %e = prim.compare eq %i, %j : (tensor<2x5x8xi64>, tensor<2x5x8xi64>) -> tensor<2x5x8xi1>
    %n = prim.convert %i : (tensor<2x5x8xi64>) -> tensor<2x5x8xf64>
    %o = prim.constant dense<5.0> : tensor<2x5x8xf64>
    %p = prim.add %n, %o : (tensor<2x5x8xf64>, tensor<2x5x8xf64>) -> tensor<2x5x8xf64>
    %q = prim.add %a, %p : (tensor<2x5x8xf64>, tensor<2x5x8xf64>) -> tensor<2x5x8xf64>
    %m = prim.select %e, %q, %a : (tensor<2x5x8xi1>, tensor<2x5x8xf64>, tensor<2x5x8xf64>) -> tensor<2x5x8xf64>
    %0:2 = prim.householder %m : (tensor<2x5x8xf64>) -> (tensor<2x5x8xf64>, tensor<2x5xf64>)
    return %0#0, %0#1 : tensor<2x5x8xf64>, tensor<2x5xf64> })", 1, 1e-11},
  {"cholesky_40_f64", R"(func.func @f(%a: tensor<3x40x40xf64>) -> (tensor<3x40x40xf64>, tensor<3xi32>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<3x40x40xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<3x40x40xi64>
    %e = prim.compare eq %i, %j : (tensor<3x40x40xi64>, tensor<3x40x40xi64>) -> tensor<3x40x40xi1>
    %n = prim.convert %i : (tensor<3x40x40xi64>) -> tensor<3x40x40xf64>
    %o = prim.constant dense<80.0> : tensor<3x40x40xf64>
    %p = prim.add %n, %o : (tensor<3x40x40xf64>, tensor<3x40x40xf64>) -> tensor<3x40x40xf64>
    %q = prim.add %a, %p : (tensor<3x40x40xf64>, tensor<3x40x40xf64>) -> tensor<3x40x40xf64>
    %m = prim.select %e, %q, %a : (tensor<3x40x40xi1>, tensor<3x40x40xf64>, tensor<3x40x40xf64>) -> tensor<3x40x40xf64>
    %0:2 = prim.cholesky %m {check_errors = true} : (tensor<3x40x40xf64>) -> (tensor<3x40x40xf64>, tensor<3xi32>)
    return %0#0, %0#1 : tensor<3x40x40xf64>, tensor<3xi32> })", 1, 1e-11},
  {"lu_40_f64", R"(func.func @f(%a: tensor<3x40x40xf64>, %b: tensor<3x40x7xf64>) -> (tensor<3x40x40xf64>, tensor<3x40xi64>, tensor<3x40x7xf64>, tensor<3x40x7xf64>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<3x40x40xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<3x40x40xi64>
    %e = prim.compare eq %i, %j : (tensor<3x40x40xi64>, tensor<3x40x40xi64>) -> tensor<3x40x40xi1>
    %n = prim.convert %i : (tensor<3x40x40xi64>) -> tensor<3x40x40xf64>
    %o = prim.constant dense<40.0> : tensor<3x40x40xf64>
    %p = prim.add %n, %o : (tensor<3x40x40xf64>, tensor<3x40x40xf64>) -> tensor<3x40x40xf64>
    %q = prim.add %a, %p : (tensor<3x40x40xf64>, tensor<3x40x40xf64>) -> tensor<3x40x40xf64>
    %m = prim.select %e, %q, %a : (tensor<3x40x40xi1>, tensor<3x40x40xf64>, tensor<3x40x40xf64>) -> tensor<3x40x40xf64>
    %r = prim.reverse %m {dimensions = array<i64: 1>} : (tensor<3x40x40xf64>) -> tensor<3x40x40xf64>
    %0:3 = prim.lu %r {check_errors = true} : (tensor<3x40x40xf64>) -> (tensor<3x40x40xf64>, tensor<3x40xi32>, tensor<3xi32>)
    %1 = prim.pivoted_rows %0#1 {rows = 40 : i64} : (tensor<3x40xi32>) -> tensor<3x40xi64>
    %2 = prim.triangular_solve %0#0, %b {upper = true, transpose = false, unit = false} : (tensor<3x40x40xf64>, tensor<3x40x7xf64>) -> tensor<3x40x7xf64>
    %3 = prim.triangular_solve %0#0, %b {upper = false, transpose = true, unit = true} : (tensor<3x40x40xf64>, tensor<3x40x7xf64>) -> tensor<3x40x7xf64>
    return %0#0, %1, %2, %3 : tensor<3x40x40xf64>, tensor<3x40xi64>, tensor<3x40x7xf64>, tensor<3x40x7xf64> })", 1, 1e-11},
  {"householder_40_f64", R"(func.func @f(%a: tensor<2x40x43xf64>) -> (tensor<2x40x43xf64>, tensor<2x40xf64>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<2x40x43xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<2x40x43xi64>
    %e = prim.compare eq %i, %j : (tensor<2x40x43xi64>, tensor<2x40x43xi64>) -> tensor<2x40x43xi1>
    %n = prim.convert %i : (tensor<2x40x43xi64>) -> tensor<2x40x43xf64>
    %o = prim.constant dense<40.0> : tensor<2x40x43xf64>
    %p = prim.add %n, %o : (tensor<2x40x43xf64>, tensor<2x40x43xf64>) -> tensor<2x40x43xf64>
    %q = prim.add %a, %p : (tensor<2x40x43xf64>, tensor<2x40x43xf64>) -> tensor<2x40x43xf64>
    %m = prim.select %e, %q, %a : (tensor<2x40x43xi1>, tensor<2x40x43xf64>, tensor<2x40x43xf64>) -> tensor<2x40x43xf64>
    %0:2 = prim.householder %m : (tensor<2x40x43xf64>) -> (tensor<2x40x43xf64>, tensor<2x40xf64>)
    return %0#0, %0#1 : tensor<2x40x43xf64>, tensor<2x40xf64> })", 1, 1e-11},
  {"jacobi_eigh_f64", R"(func.func @f(%a: tensor<3x9x9xf64>) -> (tensor<3x9x9xf64>, tensor<3x9x9xf64>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<3x9x9xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<3x9x9xi64>
    %e = prim.compare eq %i, %j : (tensor<3x9x9xi64>, tensor<3x9x9xi64>) -> tensor<3x9x9xi1>
    %n = prim.convert %i : (tensor<3x9x9xi64>) -> tensor<3x9x9xf64>
    %o = prim.constant dense<4.0> : tensor<3x9x9xf64>
    %p = prim.add %n, %o : (tensor<3x9x9xf64>, tensor<3x9x9xf64>) -> tensor<3x9x9xf64>
    %q = prim.add %a, %p : (tensor<3x9x9xf64>, tensor<3x9x9xf64>) -> tensor<3x9x9xf64>
    %m = prim.select %e, %q, %a : (tensor<3x9x9xi1>, tensor<3x9x9xf64>, tensor<3x9x9xf64>) -> tensor<3x9x9xf64>
    %0:2 = prim.jacobi_eigh %m : (tensor<3x9x9xf64>) -> (tensor<3x9x9xf64>, tensor<3x9x9xf64>)
    return %0#0, %0#1 : tensor<3x9x9xf64>, tensor<3x9x9xf64> })", 1, 1e-11},
  {"jacobi_svd_f64", R"(func.func @f(%a: tensor<2x9x12xf64>) -> (tensor<2x9x12xf64>, tensor<2x9x9xf64>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<2x9x12xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<2x9x12xi64>
    %e = prim.compare eq %i, %j : (tensor<2x9x12xi64>, tensor<2x9x12xi64>) -> tensor<2x9x12xi1>
    %n = prim.convert %i : (tensor<2x9x12xi64>) -> tensor<2x9x12xf64>
    %o = prim.constant dense<4.0> : tensor<2x9x12xf64>
    %p = prim.add %n, %o : (tensor<2x9x12xf64>, tensor<2x9x12xf64>) -> tensor<2x9x12xf64>
    %q = prim.add %a, %p : (tensor<2x9x12xf64>, tensor<2x9x12xf64>) -> tensor<2x9x12xf64>
    %m = prim.select %e, %q, %a : (tensor<2x9x12xi1>, tensor<2x9x12xf64>, tensor<2x9x12xf64>) -> tensor<2x9x12xf64>
    %0:2 = prim.jacobi_svd %m : (tensor<2x9x12xf64>) -> (tensor<2x9x12xf64>, tensor<2x9x9xf64>)
    return %0#0, %0#1 : tensor<2x9x12xf64>, tensor<2x9x9xf64> })", 1, 1e-11},
  {"lu_tall_f32", R"(func.func @f(%a: tensor<1x100x40xf32>) -> (tensor<1x100x40xf32>, tensor<1x100xi64>) {
    %0:3 = prim.lu %a {check_errors = true} : (tensor<1x100x40xf32>) -> (tensor<1x100x40xf32>, tensor<1x40xi32>, tensor<1xi32>)
    %1 = prim.pivoted_rows %0#1 {rows = 100 : i64} : (tensor<1x40xi32>) -> tensor<1x100xi64>
    return %0#0, %1 : tensor<1x100x40xf32>, tensor<1x100xi64> })", 1, 1e-4},
  // Of equal pivots the first is taken.
  {"lu_equal_pivots_f32", R"(func.func @f(%a: tensor<8x300x2xf32>) -> (tensor<8x300x2xf32>, tensor<8x300xi64>) {
    %s = prim.sign %a : (tensor<8x300x2xf32>) -> tensor<8x300x2xf32>
    %0:3 = prim.lu %s {check_errors = true} : (tensor<8x300x2xf32>) -> (tensor<8x300x2xf32>, tensor<8x2xi32>, tensor<8xi32>)
    %1 = prim.pivoted_rows %0#1 {rows = 300 : i64} : (tensor<8x2xi32>) -> tensor<8x300xi64>
    return %0#0, %1 : tensor<8x300x2xf32>, tensor<8x300xi64> })", 1, 0.0},
  {"triangular_solve_wide_f32", R"(func.func @f(%a: tensor<2x33x33xf32>, %b: tensor<2x33x150xf32>) -> (tensor<2x33x150xf32>, tensor<2x33x150xf32>, tensor<2x33x150xf32>, tensor<2x33x150xf32>) {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<2x33x33xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<2x33x33xi64>
    %e = prim.compare eq %i, %j : (tensor<2x33x33xi64>, tensor<2x33x33xi64>) -> tensor<2x33x33xi1>
    %o = prim.constant dense<30.0> : tensor<2x33x33xf32>
    %q = prim.add %a, %o : (tensor<2x33x33xf32>, tensor<2x33x33xf32>) -> tensor<2x33x33xf32>
    %m = prim.select %e, %q, %a : (tensor<2x33x33xi1>, tensor<2x33x33xf32>, tensor<2x33x33xf32>) -> tensor<2x33x33xf32>
    %0 = prim.triangular_solve %m, %b {upper = true, transpose = false, unit = false} : (tensor<2x33x33xf32>, tensor<2x33x150xf32>) -> tensor<2x33x150xf32>
    %1 = prim.triangular_solve %m, %b {upper = true, transpose = true, unit = false} : (tensor<2x33x33xf32>, tensor<2x33x150xf32>) -> tensor<2x33x150xf32>
    %2 = prim.triangular_solve %m, %b {upper = false, transpose = false, unit = false} : (tensor<2x33x33xf32>, tensor<2x33x150xf32>) -> tensor<2x33x150xf32>
    %3 = prim.triangular_solve %m, %b {upper = false, transpose = true, unit = false} : (tensor<2x33x33xf32>, tensor<2x33x150xf32>) -> tensor<2x33x150xf32>
    return %0, %1, %2, %3 : tensor<2x33x150xf32>, tensor<2x33x150xf32>, tensor<2x33x150xf32>, tensor<2x33x150xf32> })", 1, 1e-5},
};
// clang-format on

TEST_CASE("kernels on matrices compute what the interpreter computes") {
  accc::test::checkKernelCases(kCases);
}

TEST_CASE("what a factorization cannot do is a data error") {
  const std::pair<const char *, const char *> cases[] = {
      {"not positive definite",
       "func.func @f(%a: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>) {\n"
       "  %z = prim.sub %a, %a : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>\n"
       "  %r:2 = prim.cholesky %z {check_errors = true} : (tensor<2x3x3xf32>) -> "
       "(tensor<2x3x3xf32>, tensor<2xi32>)\n"
       "  return %r#0, %r#1 : tensor<2x3x3xf32>, tensor<2xi32>\n}\n"},
      {"singular",
       "func.func @f(%a: tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>) {\n"
       "  %z = prim.sub %a, %a : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>\n"
       "  %r:3 = prim.lu %z {check_errors = true} : (tensor<2x3x3xf32>) -> "
       "(tensor<2x3x3xf32>, tensor<2x3xi32>, tensor<2xi32>)\n"
       "  return %r#0, %r#2 : tensor<2x3x3xf32>, tensor<2xi32>\n}\n"},
      {"not a row's number",
       "func.func @f(%a: tensor<2x3xi32>) -> tensor<2x3xi64> {\n"
       "  %z = prim.sub %a, %a : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>\n"
       "  %r = prim.pivoted_rows %z {rows = 3 : i64} : (tensor<2x3xi32>) -> tensor<2x3xi64>\n"
       "  return %r : tensor<2x3xi64>\n}\n"},
  };
  for (auto [message, text] : cases) {
    accc::test::KernelOutcome outcome =
        accc::test::runKernelCase({"error", text}, "x86-64-v3", /*interpreted=*/false);
    INFO(text);
    CHECK_THAT(outcome.error, Catch::Matchers::Contains(message));
  }
}
