// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrences along rows: more rows than lanes, states that nothing reaches, and terms that no
// column has.
#include "kernels/CheckCases.h"

#include <catch2/catch.hpp>

using accc::test::KernelCase;

// clang-format off
static const KernelCase kCases[] = {
  {"lattice_f32", R"(func.func @f(%x: tensor<3x40x21xf32>, %a: tensor<3x3x40x21xf32>) -> tensor<3x40x21xf32> {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<3x40x21xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<3x40x21xi64>
    %k = prim.add %i, %j : (tensor<3x40x21xi64>, tensor<3x40x21xi64>) -> tensor<3x40x21xi64>
    %o = prim.constant dense<1> : tensor<3x40x21xi64>
    %s = prim.compare eq %k, %o : (tensor<3x40x21xi64>, tensor<3x40x21xi64>) -> tensor<3x40x21xi1>
    %n = prim.constant dense<0xFF800000> : tensor<3x40x21xf32>
    %l = prim.select %s, %x, %n : (tensor<3x40x21xi1>, tensor<3x40x21xf32>, tensor<3x40x21xf32>) -> tensor<3x40x21xf32>
    %r = prim.log_recurrence %l, %a : (tensor<3x40x21xf32>, tensor<3x3x40x21xf32>) -> tensor<3x40x21xf32>
    return %r : tensor<3x40x21xf32> })", 1, 1e-4},
  {"many_terms_f32", R"(func.func @f(%x: tensor<2x9x3xf32>, %a: tensor<2x5x9x3xf32>) -> (tensor<2x9x3xf32>, tensor<2x9x3xf32>) {
    %0 = prim.linear_recurrence %x, %a : (tensor<2x9x3xf32>, tensor<2x5x9x3xf32>) -> tensor<2x9x3xf32>
    %1 = prim.log_recurrence %x, %a : (tensor<2x9x3xf32>, tensor<2x5x9x3xf32>) -> tensor<2x9x3xf32>
    return %0, %1 : tensor<2x9x3xf32>, tensor<2x9x3xf32> })", 1, 1e-4},
  {"lattice_f64", R"(func.func @f(%x: tensor<3x40x21xf64>, %a: tensor<3x3x40x21xf64>) -> tensor<3x40x21xf64> {
    %i = prim.iota {dimension = 1 : i64} : () -> tensor<3x40x21xi64>
    %j = prim.iota {dimension = 2 : i64} : () -> tensor<3x40x21xi64>
    %k = prim.add %i, %j : (tensor<3x40x21xi64>, tensor<3x40x21xi64>) -> tensor<3x40x21xi64>
    %o = prim.constant dense<1> : tensor<3x40x21xi64>
    %s = prim.compare eq %k, %o : (tensor<3x40x21xi64>, tensor<3x40x21xi64>) -> tensor<3x40x21xi1>
    %n = prim.constant dense<0xFFF0000000000000> : tensor<3x40x21xf64>
    %l = prim.select %s, %x, %n : (tensor<3x40x21xi1>, tensor<3x40x21xf64>, tensor<3x40x21xf64>) -> tensor<3x40x21xf64>
    %r = prim.log_recurrence %l, %a : (tensor<3x40x21xf64>, tensor<3x3x40x21xf64>) -> tensor<3x40x21xf64>
    return %r : tensor<3x40x21xf64> })", 1, 1e-11},
  {"many_terms_f64", R"(func.func @f(%x: tensor<2x9x3xf64>, %a: tensor<2x5x9x3xf64>) -> (tensor<2x9x3xf64>, tensor<2x9x3xf64>) {
    %0 = prim.linear_recurrence %x, %a : (tensor<2x9x3xf64>, tensor<2x5x9x3xf64>) -> tensor<2x9x3xf64>
    %1 = prim.log_recurrence %x, %a : (tensor<2x9x3xf64>, tensor<2x5x9x3xf64>) -> tensor<2x9x3xf64>
    return %0, %1 : tensor<2x9x3xf64>, tensor<2x9x3xf64> })", 1, 1e-11},
};
// clang-format on

TEST_CASE("kernels of recurrences compute what the interpreter computes") {
  accc::test::checkKernelCases(kCases);
}
