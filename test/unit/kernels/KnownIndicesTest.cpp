// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatters by indices that are known at compile time: gathers by the inverse, where no row gets
// many updates.
#include "kernels/CheckCases.h"

#include <catch2/catch.hpp>

using namespace accc::test;

// clang-format off
static const KernelCase kCases[] = {
  {"resized_columns", R"(func.func @f(%x: tensor<3x4x6xf32>, %u: tensor<3x4x12xf32>, %w: tensor<12xf32>) -> tensor<3x4x6xf32> {
    %i = prim.constant dense<[0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 5]> : tensor<12xi64>
    %0 = prim.broadcast %w {dimensions = array<i64: 2>} : (tensor<12xf32>) -> tensor<3x4x12xf32>
    %1 = prim.mul %u, %0 : (tensor<3x4x12xf32>, tensor<3x4x12xf32>) -> tensor<3x4x12xf32>
    %2 = prim.scatter %x, %i, %1 {axis = 2 : i64, kind = #prim<scatter_kind add>} : (tensor<3x4x6xf32>, tensor<12xi64>, tensor<3x4x12xf32>) -> tensor<3x4x6xf32>
    return %2 : tensor<3x4x6xf32> })", 3, 2e-6, false, true},
  {"twice_each_row", R"(func.func @f(%u: tensor<2x3x24xf32>) -> tensor<3x24xf32> {
    %zeros = prim.constant dense<0.0> : tensor<3x24xf32>
    %i = prim.constant dense<[[2, 0, 1], [0, 1, 2]]> : tensor<2x3xi32>
    %0 = prim.scatter %zeros, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<3x24xf32>, tensor<2x3xi32>, tensor<2x3x24xf32>) -> tensor<3x24xf32>
    return %0 : tensor<3x24xf32> })", 3, 2e-6, false, true},
  {"some_rows", R"(func.func @f(%x: tensor<6x5xf32>, %u: tensor<3x5xf32>) -> tensor<6x5xf32> {
    %i = prim.constant dense<[4, 0, 3]> : tensor<3xi64>
    %0 = prim.scatter %x, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<6x5xf32>, tensor<3xi64>, tensor<3x5xf32>) -> tensor<6x5xf32>
    return %0 : tensor<6x5xf32> })", 3, 2e-6, false, true},
  {"last_one_wins", R"(func.func @f(%x: tensor<5x4xi32>, %u: tensor<5x6xi32>) -> tensor<5x4xi32> {
    %i = prim.constant dense<[3, 0, 3, 1, 0, 3]> : tensor<6xi64>
    %0 = prim.scatter %x, %i, %u {axis = 1 : i64, kind = #prim<scatter_kind set>} : (tensor<5x4xi32>, tensor<6xi64>, tensor<5x6xi32>) -> tensor<5x4xi32>
    return %0 : tensor<5x4xi32> })", 100, 0, false, true},
  {"many_a_row", R"(func.func @f(%x: tensor<3x2x8xf32>, %u: tensor<3x19x8xf32>) -> tensor<3x2x8xf32> {
    %i = prim.constant dense<[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]> : tensor<19xi64>
    %0 = prim.scatter %x, %i, %u {axis = 1 : i64, kind = #prim<scatter_kind add>} : (tensor<3x2x8xf32>, tensor<19xi64>, tensor<3x19x8xf32>) -> tensor<3x2x8xf32>
    return %0 : tensor<3x2x8xf32> })", 3, 2e-6, false, true},
  {"many_a_column", R"(func.func @f(%u: tensor<5x40xi32>) -> tensor<5x3xi32> {
    %zeros = prim.constant dense<0> : tensor<5x3xi32>
    %i = prim.constant dense<[0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]> : tensor<40xi64>
    %0 = prim.scatter %zeros, %i, %u {axis = 1 : i64, kind = #prim<scatter_kind add>} : (tensor<5x3xi32>, tensor<40xi64>, tensor<5x40xi32>) -> tensor<5x3xi32>
    return %0 : tensor<5x3xi32> })", 100, 0, false, true},
  // Each sum rounds to the element type.
  {"sums_of_16_bits", R"(func.func @f(%x: tensor<40xbf16>, %u: tensor<120xbf16>) -> tensor<40xbf16> {
    %i = prim.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39]> : tensor<120xi64>
    %0 = prim.scatter %x, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<40xbf16>, tensor<120xi64>, tensor<120xbf16>) -> tensor<40xbf16>
    return %0 : tensor<40xbf16> })", 3, 0.01, false, true},
};
// clang-format on

TEST_CASE("scatters by known indices") { checkKernelCases(kCases); }
