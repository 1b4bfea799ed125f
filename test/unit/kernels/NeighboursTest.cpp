// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops whose innermost extents let a thread take several neighbours at once, or almost.
#include "kernels/Harness.h"

#include <catch2/catch.hpp>

using accc::test::KernelCase;

// clang-format off
static const KernelCase kCases[] = {
  {"rows", R"(func.func @f(%a: tensor<5x7x24xf32>, %b: tensor<24xf32>, %c: tensor<5xf32>) -> tensor<5x7x24xf32> {
    %0 = prim.broadcast %b {dimensions = array<i64: 2>} : (tensor<24xf32>) -> tensor<5x7x24xf32>
    %1 = prim.broadcast %c {dimensions = array<i64: 0>} : (tensor<5xf32>) -> tensor<5x7x24xf32>
    %2 = prim.mul %a, %0 : (tensor<5x7x24xf32>, tensor<5x7x24xf32>) -> tensor<5x7x24xf32>
    %3 = prim.add %2, %1 : (tensor<5x7x24xf32>, tensor<5x7x24xf32>) -> tensor<5x7x24xf32>
    return %3 : tensor<5x7x24xf32> })"},
  {"rest", R"(func.func @f(%a: tensor<1003xf32>, %b: tensor<1003xf32>) -> tensor<1003xf32> {
    %0 = prim.add %a, %b : (tensor<1003xf32>, tensor<1003xf32>) -> tensor<1003xf32>
    return %0 : tensor<1003xf32> })"},
  {"rows_of_odd_length", R"(func.func @f(%a: tensor<8x9xf32>, %b: tensor<9xf32>) -> tensor<8x9xf32> {
    %0 = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<9xf32>) -> tensor<8x9xf32>
    %1 = prim.add %a, %0 : (tensor<8x9xf32>, tensor<8x9xf32>) -> tensor<8x9xf32>
    return %1 : tensor<8x9xf32> })"},
  {"long_rows_of_odd_length", R"(func.func @f(%a: tensor<5x1027xf32>, %b: tensor<1027xf32>, %c: tensor<5xf32>) -> tensor<5x1027xf32> {
    %0 = prim.broadcast %c {dimensions = array<i64: 0>} : (tensor<5xf32>) -> tensor<5x1027xf32>
    %1 = prim.iota {dimension = 1 : i64} : () -> tensor<5x1027xi64>
    %2 = prim.convert %1 : (tensor<5x1027xi64>) -> tensor<5x1027xf32>
    %3 = prim.mul %a, %0 : (tensor<5x1027xf32>, tensor<5x1027xf32>) -> tensor<5x1027xf32>
    %4 = prim.add %3, %2 : (tensor<5x1027xf32>, tensor<5x1027xf32>) -> tensor<5x1027xf32>
    return %4 : tensor<5x1027xf32> })"},
  {"long_rows_shifted", R"(func.func @f(%a: tensor<5x1031xf32>, %b: tensor<1027xf32>) -> tensor<5x1027xf32> {
    %0 = prim.slice %a {starts = array<i64: 0, 4>, limits = array<i64: 5, 1031>, strides = array<i64: 1, 1>} : (tensor<5x1031xf32>) -> tensor<5x1027xf32>
    %1 = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<1027xf32>) -> tensor<5x1027xf32>
    %2 = prim.add %0, %1 : (tensor<5x1027xf32>, tensor<5x1027xf32>) -> tensor<5x1027xf32>
    return %2 : tensor<5x1027xf32> })"},
  {"long_rows_of_even_length", R"(func.func @f(%a: tensor<5x1026xf32>, %c: tensor<5xf32>) -> tensor<5x1026xf32> {
    %0 = prim.broadcast %c {dimensions = array<i64: 0>} : (tensor<5xf32>) -> tensor<5x1026xf32>
    %1 = prim.add %a, %0 : (tensor<5x1026xf32>, tensor<5x1026xf32>) -> tensor<5x1026xf32>
    return %1 : tensor<5x1026xf32> })"},
  {"pairs", R"(func.func @f(%a: tensor<8x6xf32>, %b: tensor<6xf32>) -> tensor<8x6xf32> {
    %0 = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<8x6xf32>
    %1 = prim.add %a, %0 : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    return %1 : tensor<8x6xf32> })"},
  {"padded_by_whole_vectors", R"(func.func @f(%a: tensor<3x16xf32>) -> tensor<5x28xf32> {
    %v = prim.constant dense<1.5> : tensor<f32>
    %0 = prim.pad %a, %v {low = array<i64: 1, 4>, high = array<i64: 1, 8>, interior = array<i64: 0, 0>} : (tensor<3x16xf32>, tensor<f32>) -> tensor<5x28xf32>
    return %0 : tensor<5x28xf32> })"},
  {"padded_by_one", R"(func.func @f(%a: tensor<3x16xf32>) -> tensor<3x20xf32> {
    %v = prim.constant dense<1.5> : tensor<f32>
    %0 = prim.pad %a, %v {low = array<i64: 0, 1>, high = array<i64: 0, 3>, interior = array<i64: 0, 0>} : (tensor<3x16xf32>, tensor<f32>) -> tensor<3x20xf32>
    return %0 : tensor<3x20xf32> })"},
  {"joined", R"(func.func @f(%a: tensor<4x8xf32>, %b: tensor<4x16xf32>) -> tensor<4x24xf32> {
    %0 = prim.concatenate %a, %b {dimension = 1 : i64} : (tensor<4x8xf32>, tensor<4x16xf32>) -> tensor<4x24xf32>
    return %0 : tensor<4x24xf32> })"},
  {"many_joined_apart", R"(func.func @f(%a: tensor<3x14xf32>, %b: tensor<3x28xf32>) -> tensor<3x112xf32> {
    %0 = prim.concatenate %a, %b, %a, %a, %a, %b {dimension = 1 : i64} : (tensor<3x14xf32>, tensor<3x28xf32>, tensor<3x14xf32>, tensor<3x14xf32>, tensor<3x14xf32>, tensor<3x28xf32>) -> tensor<3x112xf32>
    return %0 : tensor<3x112xf32> })"},
  {"sliced_aligned", R"(func.func @f(%a: tensor<9x40xf32>) -> tensor<9x32xf32> {
    %0 = prim.slice %a {starts = array<i64: 0, 4>, limits = array<i64: 9, 36>, strides = array<i64: 1, 1>} : (tensor<9x40xf32>) -> tensor<9x32xf32>
    return %0 : tensor<9x32xf32> })"},
  {"sliced_between", R"(func.func @f(%a: tensor<9x40xf32>) -> tensor<9x32xf32> {
    %0 = prim.slice %a {starts = array<i64: 0, 3>, limits = array<i64: 9, 35>, strides = array<i64: 1, 1>} : (tensor<9x40xf32>) -> tensor<9x32xf32>
    return %0 : tensor<9x32xf32> })"},
  {"every_second", R"(func.func @f(%a: tensor<9x40xf32>) -> tensor<9x20xf32> {
    %0 = prim.slice %a {starts = array<i64: 0, 0>, limits = array<i64: 9, 40>, strides = array<i64: 1, 2>} : (tensor<9x40xf32>) -> tensor<9x20xf32>
    return %0 : tensor<9x20xf32> })"},
  {"gathered_neighbours", R"(func.func @f(%a: tensor<11x8xf32>, %i: tensor<16xi64>) -> tensor<16x8xf32> {
    %0 = prim.gather %a, %i {axis = 0 : i64} : (tensor<11x8xf32>, tensor<16xi64>) -> tensor<16x8xf32>
    return %0 : tensor<16x8xf32> })", 11},
  {"gathered_apart", R"(func.func @f(%a: tensor<11xf32>, %i: tensor<16xi64>) -> tensor<16xf32> {
    %0 = prim.gather %a, %i {axis = 0 : i64} : (tensor<11xf32>, tensor<16xi64>) -> tensor<16xf32>
    return %0 : tensor<16xf32> })", 11},
  {"transposed", R"(func.func @f(%a: tensor<16x20xf32>, %b: tensor<20x16xf32>) -> tensor<20x16xf32> {
    %0 = prim.transpose %a {permutation = array<i64: 1, 0>} : (tensor<16x20xf32>) -> tensor<20x16xf32>
    %1 = prim.add %0, %b : (tensor<20x16xf32>, tensor<20x16xf32>) -> tensor<20x16xf32>
    return %1 : tensor<20x16xf32> })"},
  {"bf16", R"(func.func @f(%a: tensor<8x32xbf16>, %b: tensor<32xbf16>) -> tensor<8x32xbf16> {
    %0 = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<32xbf16>) -> tensor<8x32xbf16>
    %1 = prim.mul %a, %0 : (tensor<8x32xbf16>, tensor<8x32xbf16>) -> tensor<8x32xbf16>
    return %1 : tensor<8x32xbf16> })", 3, 4e-3},
  {"f16_to_f32", R"(func.func @f(%a: tensor<8x32xf16>) -> (tensor<8x32xf32>, tensor<8x32xf16>) {
    %0 = prim.convert %a : (tensor<8x32xf16>) -> tensor<8x32xf32>
    %1 = prim.exp %0 : (tensor<8x32xf32>) -> tensor<8x32xf32>
    %2 = prim.convert %1 : (tensor<8x32xf32>) -> tensor<8x32xf16>
    return %1, %2 : tensor<8x32xf32>, tensor<8x32xf16> })", 3, 5e-4},
  {"booleans_and_longs", R"(func.func @f(%a: tensor<64xf32>, %b: tensor<64xf32>, %i: tensor<64xi64>) -> (tensor<64xi1>, tensor<64xi64>) {
    %0 = prim.compare lt %a, %b : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
    %1 = prim.add %i, %i : (tensor<64xi64>, tensor<64xi64>) -> tensor<64xi64>
    %2 = prim.select %0, %1, %i : (tensor<64xi1>, tensor<64xi64>, tensor<64xi64>) -> tensor<64xi64>
    return %0, %2 : tensor<64xi1>, tensor<64xi64> })"},
  {"booleans", R"(func.func @f(%a: tensor<64xi1>, %b: tensor<64xi1>) -> tensor<64xi1> {
    %0 = prim.and %a, %b : (tensor<64xi1>, tensor<64xi1>) -> tensor<64xi1>
    return %0 : tensor<64xi1> })"},
  {"counted", R"(func.func @f(%a: tensor<6x16xf32>) -> tensor<6x16xf32> {
    %0 = prim.iota {dimension = 1 : i64} : () -> tensor<6x16xi64>
    %1 = prim.convert %0 : (tensor<6x16xi64>) -> tensor<6x16xf32>
    %2 = prim.add %a, %1 : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
    return %2 : tensor<6x16xf32> })"},
  {"window", R"(func.func @f(%a: tensor<2x8x8x12xf32>) -> tensor<2x4x4x12xf32> {
    %0 = prim.reduce_window max %a {window = array<i64: 1, 3, 3, 1>, strides = array<i64: 1, 2, 2, 1>, dilations = array<i64: 1, 1, 1, 1>, pad_low = array<i64: 0, 1, 1, 0>, pad_high = array<i64: 0, 0, 0, 0>} : (tensor<2x8x8x12xf32>) -> tensor<2x4x4x12xf32>
    return %0 : tensor<2x4x4x12xf32> })"},
  {"random", R"(func.func @f(%k: tensor<2xi64>) -> tensor<3x64xui32> {
    %0 = prim.random_bits %k {stream = 5 : i64} : (tensor<2xi64>) -> tensor<3x64xui32>
    return %0 : tensor<3x64xui32> })"},
};
// clang-format on

TEST_CASE("neighbours taken at once are those of single elements") {
  for (const KernelCase &test : kCases)
    DYNAMIC_SECTION(test.name) {
      accc::test::KernelOutcome outcome = accc::test::runKernelCase(test, "x86-64-v3");
      INFO(outcome.error);
      CHECK(outcome.error.empty());
    }
}
