// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that read something along another dimension than they write, and what stands in their way.
#include "kernels/Harness.h"

#include <catch2/catch.hpp>

using accc::test::KernelCase;

// clang-format off
static const KernelCase kCases[] = {
  {"one_tile", R"(func.func @f(%a: tensor<32x32xf32>) -> tensor<32x32xf32> {
    %0 = prim.transpose %a {permutation = array<i64: 1, 0>} : (tensor<32x32xf32>) -> tensor<32x32xf32>
    return %0 : tensor<32x32xf32> })"},
  {"tiles_that_end_early", R"(func.func @f(%a: tensor<3x70x45xf32>) -> tensor<3x45x70xf32> {
    %0 = prim.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<3x70x45xf32>) -> tensor<3x45x70xf32>
    return %0 : tensor<3x45x70xf32> })"},
  {"narrow", R"(func.func @f(%a: tensor<2x5x333xf32>) -> tensor<2x333x5xf32> {
    %0 = prim.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<2x5x333xf32>) -> tensor<2x333x5xf32>
    return %0 : tensor<2x333x5xf32> })"},
  {"low", R"(func.func @f(%a: tensor<2x333x9xf32>) -> tensor<2x9x333xf32> {
    %0 = prim.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<2x333x9xf32>) -> tensor<2x9x333xf32>
    return %0 : tensor<2x9x333xf32> })"},
  {"smaller_than_a_tile", R"(func.func @f(%a: tensor<9x11xf32>) -> tensor<11x9xf32> {
    %0 = prim.transpose %a {permutation = array<i64: 1, 0>} : (tensor<9x11xf32>) -> tensor<11x9xf32>
    return %0 : tensor<11x9xf32> })"},
  {"across_other_dimensions", R"(func.func @f(%a: tensor<10x3x2x40xf32>) -> tensor<40x3x2x10xf32> {
    %0 = prim.transpose %a {permutation = array<i64: 3, 1, 2, 0>} : (tensor<10x3x2x40xf32>) -> tensor<40x3x2x10xf32>
    return %0 : tensor<40x3x2x10xf32> })"},
  {"of_booleans", R"(func.func @f(%a: tensor<33x40xi1>, %b: tensor<40x33xf32>) -> tensor<40x33xf32> {
    %0 = prim.transpose %a {permutation = array<i64: 1, 0>} : (tensor<33x40xi1>) -> tensor<40x33xi1>
    %1 = prim.neg %b : (tensor<40x33xf32>) -> tensor<40x33xf32>
    %2 = prim.select %0, %b, %1 : (tensor<40x33xi1>, tensor<40x33xf32>, tensor<40x33xf32>) -> tensor<40x33xf32>
    return %2 : tensor<40x33xf32> })"},
  {"of_16_and_64_bits", R"(func.func @f(%a: tensor<33x40xbf16>, %b: tensor<33x40xi64>) -> (tensor<40x33xbf16>, tensor<40x33xi64>) {
    %0 = prim.transpose %a {permutation = array<i64: 1, 0>} : (tensor<33x40xbf16>) -> tensor<40x33xbf16>
    %1 = prim.transpose %b {permutation = array<i64: 1, 0>} : (tensor<33x40xi64>) -> tensor<40x33xi64>
    return %0, %1 : tensor<40x33xbf16>, tensor<40x33xi64> })"},
  {"and_not", R"(func.func @f(%a: tensor<40x40xf32>) -> tensor<40x40xf32> {
    %0 = prim.transpose %a {permutation = array<i64: 1, 0>} : (tensor<40x40xf32>) -> tensor<40x40xf32>
    %1 = prim.sub %a, %0 : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
    return %1 : tensor<40x40xf32> })"},
  {"two_and_a_row", R"(func.func @f(%a: tensor<50x40xf32>, %b: tensor<50x40xf32>, %c: tensor<50xf32>) -> tensor<40x50xf32> {
    %0 = prim.mul %a, %b : (tensor<50x40xf32>, tensor<50x40xf32>) -> tensor<50x40xf32>
    %1 = prim.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<50x40xf32>) -> tensor<40x50xf32>
    %2 = prim.broadcast %c {dimensions = array<i64: 1>} : (tensor<50xf32>) -> tensor<40x50xf32>
    %3 = prim.add %1, %2 : (tensor<40x50xf32>, tensor<40x50xf32>) -> tensor<40x50xf32>
    return %3 : tensor<40x50xf32> })"},
  {"along_two_dimensions", R"(func.func @f(%a: tensor<9x10x40xf32>, %b: tensor<40x9x10xf32>) -> tensor<9x40x10xf32> {
    %0 = prim.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<9x10x40xf32>) -> tensor<9x40x10xf32>
    %1 = prim.transpose %b {permutation = array<i64: 1, 0, 2>} : (tensor<40x9x10xf32>) -> tensor<9x40x10xf32>
    %2 = prim.add %0, %1 : (tensor<9x40x10xf32>, tensor<9x40x10xf32>) -> tensor<9x40x10xf32>
    return %2 : tensor<9x40x10xf32> })"},
  {"by_different_dimensions", R"(func.func @f(%a: tensor<40x12x9xf32>, %b: tensor<40x9x12xf32>) -> tensor<9x12x40xf32> {
    %0 = prim.transpose %a {permutation = array<i64: 2, 1, 0>} : (tensor<40x12x9xf32>) -> tensor<9x12x40xf32>
    %1 = prim.transpose %b {permutation = array<i64: 1, 2, 0>} : (tensor<40x9x12xf32>) -> tensor<9x12x40xf32>
    %2 = prim.add %0, %1 : (tensor<9x12x40xf32>, tensor<9x12x40xf32>) -> tensor<9x12x40xf32>
    return %2 : tensor<9x12x40xf32> })"},
  {"padded", R"(func.func @f(%a: tensor<40x33xf32>) -> tensor<35x44xf32> {
    %v = prim.constant dense<1.5> : tensor<f32>
    %0 = prim.transpose %a {permutation = array<i64: 1, 0>} : (tensor<40x33xf32>) -> tensor<33x40xf32>
    %1 = prim.pad %0, %v {low = array<i64: 1, 3>, high = array<i64: 1, 1>, interior = array<i64: 0, 0>} : (tensor<33x40xf32>, tensor<f32>) -> tensor<35x44xf32>
    return %1 : tensor<35x44xf32> })"},
  {"cut_and_reversed", R"(func.func @f(%a: tensor<40x50xf32>) -> tensor<45x30xf32> {
    %0 = prim.slice %a {starts = array<i64: 7, 2>, limits = array<i64: 37, 47>, strides = array<i64: 1, 1>} : (tensor<40x50xf32>) -> tensor<30x45xf32>
    %1 = prim.reverse %0 {dimensions = array<i64: 0>} : (tensor<30x45xf32>) -> tensor<30x45xf32>
    %2 = prim.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<30x45xf32>) -> tensor<45x30xf32>
    return %2 : tensor<45x30xf32> })"},
  {"gathered", R"(func.func @f(%a: tensor<40x11xf32>, %i: tensor<50xi64>) -> tensor<40x50xf32> {
    %0 = prim.transpose %a {permutation = array<i64: 1, 0>} : (tensor<40x11xf32>) -> tensor<11x40xf32>
    %1 = prim.gather %0, %i {axis = 0 : i64} : (tensor<11x40xf32>, tensor<50xi64>) -> tensor<50x40xf32>
    %2 = prim.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<50x40xf32>) -> tensor<40x50xf32>
    return %2 : tensor<40x50xf32> })", 11},
  {"long_rows", R"(func.func @f(%a: tensor<3x530x37xf32>, %b: tensor<640x16xbf16>) -> (tensor<3x37x530xf32>, tensor<16x640xbf16>) {
    %0 = prim.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<3x530x37xf32>) -> tensor<3x37x530xf32>
    %1 = prim.transpose %b {permutation = array<i64: 1, 0>} : (tensor<640x16xbf16>) -> tensor<16x640xbf16>
    %2 = prim.neg %1 : (tensor<16x640xbf16>) -> tensor<16x640xbf16>
    return %0, %2 : tensor<3x37x530xf32>, tensor<16x640xbf16> })"},
  {"reduced", R"(func.func @f(%a: tensor<3x40x64xf32>) -> (tensor<3x64x40xf32>, tensor<3x40xf32>) {
    %0 = prim.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<3x40x64xf32>) -> tensor<3x64x40xf32>
    %1 = prim.mul %0, %0 : (tensor<3x64x40xf32>, tensor<3x64x40xf32>) -> tensor<3x64x40xf32>
    %2 = prim.reduce sum %1 {dimensions = array<i64: 1>} : (tensor<3x64x40xf32>) -> tensor<3x40xf32>
    return %1, %2 : tensor<3x64x40xf32>, tensor<3x40xf32> })"},
};
// clang-format on

TEST_CASE("what is read transposed is what the interpreter reads") {
  for (const KernelCase &test : kCases)
    DYNAMIC_SECTION(test.name) {
      accc::test::KernelOutcome outcome = accc::test::runKernelCase(test, "x86-64-v3");
      INFO(outcome.error);
      CHECK(outcome.error.empty());
    }
}
