// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorts that give only some places of the order.
#include "kernels/CheckCases.h"

#include <catch2/catch.hpp>

using namespace accc::test;

// clang-format off
static const KernelCase kRanges[] = {
  {"no_numbers_first", R"(func.func @f(%a: tensor<2x1000xf32>) -> (tensor<2x12xf32>, tensor<2x12xi64>) {
    %l = prim.log %a : (tensor<2x1000xf32>) -> tensor<2x1000xf32>
    %0, %1 = prim.sort %l {dimension = 1 : i64, descending = true, range = array<i64: 0, 12>} : (tensor<2x1000xf32>) -> (tensor<2x12xf32>, tensor<2x12xi64>)
    return %0, %1 : tensor<2x12xf32>, tensor<2x12xi64> })"},
  {"numbers_before_others", R"(func.func @f(%a: tensor<2x1000xf32>) -> (tensor<2x300xf32>, tensor<2x300xi64>) {
    %l = prim.log %a : (tensor<2x1000xf32>) -> tensor<2x1000xf32>
    %0, %1 = prim.sort %l {dimension = 1 : i64, descending = false, range = array<i64: 400, 700>} : (tensor<2x1000xf32>) -> (tensor<2x300xf32>, tensor<2x300xi64>)
    return %0, %1 : tensor<2x300xf32>, tensor<2x300xi64> })"},
  {"equals_at_both_ends", R"(func.func @f(%a: tensor<3x500xi32>) -> (tensor<3x170xi32>, tensor<3x170xi64>) {
    %0, %1 = prim.sort %a {dimension = 1 : i64, descending = false, range = array<i64: 130, 300>} : (tensor<3x500xi32>) -> (tensor<3x170xi32>, tensor<3x170xi64>)
    return %0, %1 : tensor<3x170xi32>, tensor<3x170xi64> })", 4},
  {"first_of_equals", R"(func.func @f(%a: tensor<3x500xi32>) -> tensor<3x7xi64> {
    %0, %1 = prim.sort %a {dimension = 1 : i64, descending = true, range = array<i64: 0, 7>} : (tensor<3x500xi32>) -> (tensor<3x7xi32>, tensor<3x7xi64>)
    return %1 : tensor<3x7xi64> })", 3},
  {"a_place_of_wide_numbers", R"(func.func @f(%a: tensor<500x2xi64>) -> (tensor<1x2xi64>, tensor<1x2xi64>) {
    %0, %1 = prim.sort %a {dimension = 0 : i64, descending = true, range = array<i64: 249, 250>} : (tensor<500x2xi64>) -> (tensor<1x2xi64>, tensor<1x2xi64>)
    return %0, %1 : tensor<1x2xi64>, tensor<1x2xi64> })", 90},
  {"values_alone", R"(func.func @f(%a: tensor<2x500xf32>) -> (tensor<2x5xf32>, tensor<2x100xf32>) {
    %0, %1 = prim.sort %a {dimension = 1 : i64, descending = true, range = array<i64: 0, 5>} : (tensor<2x500xf32>) -> (tensor<2x5xf32>, tensor<2x5xi64>)
    %2, %3 = prim.sort %a {dimension = 1 : i64, descending = true, range = array<i64: 0, 100>} : (tensor<2x500xf32>) -> (tensor<2x100xf32>, tensor<2x100xi64>)
    return %0, %2 : tensor<2x5xf32>, tensor<2x100xf32> })"},
  // Each element goes before those of the heap, until that gives up.
  {"first_of_rows_in_bad_order", R"(func.func @f(%a: tensor<1xi32>) -> (tensor<20x20xi32>, tensor<20x20xi64>, tensor<20xi64>) {
    %c = prim.iota {dimension = 1 : i64} : () -> tensor<20x400xi32>
    %z = prim.broadcast %a {dimensions = array<i64: 1>} : (tensor<1xi32>) -> tensor<20x1xi32>
    %r = prim.reshape %z : (tensor<20x1xi32>) -> tensor<20xi32>
    %b = prim.broadcast %r {dimensions = array<i64: 0>} : (tensor<20xi32>) -> tensor<20x400xi32>
    %s = prim.add %c, %b : (tensor<20x400xi32>, tensor<20x400xi32>) -> tensor<20x400xi32>
    %0, %1 = prim.sort %s {dimension = 1 : i64, descending = true, range = array<i64: 0, 20>} : (tensor<20x400xi32>) -> (tensor<20x20xi32>, tensor<20x20xi64>)
    %2, %3 = prim.sort %s {dimension = 1 : i64, descending = true, range = array<i64: 0, 1>} : (tensor<20x400xi32>) -> (tensor<20x1xi32>, tensor<20x1xi64>)
    %4 = prim.reshape %3 : (tensor<20x1xi64>) -> tensor<20xi64>
    return %0, %1, %4 : tensor<20x20xi32>, tensor<20x20xi64>, tensor<20xi64> })"},
  {"gradient", R"(func.func @f(%a: tensor<3x500xf32>) -> tensor<3x7xf32> {
    %0, %1 = prim.sort %a {dimension = 1 : i64, descending = true, range = array<i64: 0, 7>} : (tensor<3x500xf32>) -> (tensor<3x7xf32>, tensor<3x7xi64>)
    return %0 : tensor<3x7xf32> })", 3, 2e-6, true},
};

// What a GPU sorts at once are 4096 elements, and what a CPU holds 8192.
static const KernelCase kLongRanges[] = {
  {"first_of_three_runs", R"(func.func @f(%a: tensor<2x9001xf32>) -> (tensor<2x50xf32>, tensor<2x50xi64>) {
    %l = prim.log %a : (tensor<2x9001xf32>) -> tensor<2x9001xf32>
    %0, %1 = prim.sort %l {dimension = 1 : i64, descending = false, range = array<i64: 0, 50>} : (tensor<2x9001xf32>) -> (tensor<2x50xf32>, tensor<2x50xi64>)
    return %0, %1 : tensor<2x50xf32>, tensor<2x50xi64> })", 3, 2e-6, false, true},
  {"of_runs_of_runs", R"(func.func @f(%a: tensor<9001xui8>) -> (tensor<1998xui8>, tensor<1998xi64>) {
    %0, %1 = prim.sort %a {dimension = 0 : i64, descending = true, range = array<i64: 2, 2000>} : (tensor<9001xui8>) -> (tensor<1998xui8>, tensor<1998xi64>)
    return %0, %1 : tensor<1998xui8>, tensor<1998xi64> })", 256, 0, false, true},
  {"a_long_row", R"(func.func @f(%a: tensor<2x9000xf32>, %b: tensor<9000xi32>) -> (tensor<2x300xf32>, tensor<2x300xi64>, tensor<600xi64>, tensor<1xi32>) {
    %l = prim.log %a : (tensor<2x9000xf32>) -> tensor<2x9000xf32>
    %0, %1 = prim.sort %l {dimension = 1 : i64, descending = false, range = array<i64: 1100, 1400>} : (tensor<2x9000xf32>) -> (tensor<2x300xf32>, tensor<2x300xi64>)
    %2, %3 = prim.sort %b {dimension = 0 : i64, descending = true, range = array<i64: 1500, 2100>} : (tensor<9000xi32>) -> (tensor<600xi32>, tensor<600xi64>)
    %4, %5 = prim.sort %b {dimension = 0 : i64, descending = false, range = array<i64: 2000, 2001>} : (tensor<9000xi32>) -> (tensor<1xi32>, tensor<1xi64>)
    return %0, %1, %3, %4 : tensor<2x300xf32>, tensor<2x300xi64>, tensor<600xi64>, tensor<1xi32> })", 4, 2e-6, false, true},
  {"a_place_of_a_long_row_of_wide_numbers", R"(func.func @f(%a: tensor<9000xi64>) -> (tensor<2xi64>, tensor<2xi64>) {
    %0, %1 = prim.sort %a {dimension = 0 : i64, descending = true, range = array<i64: 1000, 1002>} : (tensor<9000xi64>) -> (tensor<2xi64>, tensor<2xi64>)
    return %0, %1 : tensor<2xi64>, tensor<2xi64> })", 90, 0, false, true},
  {"the_middle_of_columns", R"(func.func @f(%a: tensor<4099x2xi32>) -> (tensor<1x2xi32>, tensor<1x2xi64>) {
    %0, %1 = prim.sort %a {dimension = 0 : i64, descending = false, range = array<i64: 2049, 2050>} : (tensor<4099x2xi32>) -> (tensor<1x2xi32>, tensor<1x2xi64>)
    return %0, %1 : tensor<1x2xi32>, tensor<1x2xi64> })", 90, 0, false, true},
};
// clang-format on

TEST_CASE("sorts of some places") { checkKernelCases(kRanges); }
TEST_CASE("sorts of some places of long lines") { checkKernelCases(kLongRanges); }
