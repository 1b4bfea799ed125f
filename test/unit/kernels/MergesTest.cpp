// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorted runs that are merged, sorts of lines that are too long to be sorted at once, and scatters
// whose indices are sorted, or unique.
#include "kernels/Harness.h"

#include <catch2/catch.hpp>

using namespace accc::test;

// clang-format off
static const KernelCase kMerges[] = {
  {"four_runs", R"(func.func @f(%a: tensor<2x4x25xf32>) -> (tensor<2x100xf32>, tensor<2x100xi64>, tensor<2x100xi64>) {
    %s, %i = prim.sort %a {dimension = 2 : i64, descending = false} : (tensor<2x4x25xf32>) -> (tensor<2x4x25xf32>, tensor<2x4x25xi64>)
    %0 = prim.reshape %s : (tensor<2x4x25xf32>) -> tensor<2x100xf32>
    %1, %p = prim.merge %0 {dimension = 1 : i64, descending = false, run = 25 : i64} : (tensor<2x100xf32>) -> (tensor<2x100xf32>, tensor<2x100xi64>)
    %2, %q = prim.merge %1 {dimension = 1 : i64, descending = false, run = 50 : i64} : (tensor<2x100xf32>) -> (tensor<2x100xf32>, tensor<2x100xi64>)
    return %2, %p, %q : tensor<2x100xf32>, tensor<2x100xi64>, tensor<2x100xi64> })"},
  {"a_last_run_that_is_shorter", R"(func.func @f(%a: tensor<4x25xi32>) -> (tensor<90xi32>, tensor<90xi64>, tensor<90xi64>) {
    %s, %i = prim.sort %a {dimension = 1 : i64, descending = true} : (tensor<4x25xi32>) -> (tensor<4x25xi32>, tensor<4x25xi64>)
    %0 = prim.reshape %s : (tensor<4x25xi32>) -> tensor<100xi32>
    %1 = prim.slice %0 {starts = array<i64: 0>, limits = array<i64: 90>, strides = array<i64: 1>} : (tensor<100xi32>) -> tensor<90xi32>
    %2, %p = prim.merge %1 {dimension = 0 : i64, descending = true, run = 25 : i64} : (tensor<90xi32>) -> (tensor<90xi32>, tensor<90xi64>)
    %3, %q = prim.merge %2 {dimension = 0 : i64, descending = true, run = 50 : i64} : (tensor<90xi32>) -> (tensor<90xi32>, tensor<90xi64>)
    return %3, %p, %q : tensor<90xi32>, tensor<90xi64>, tensor<90xi64> })", 5},
  {"a_run_without_another", R"(func.func @f(%a: tensor<3x25xui8>) -> (tensor<75xui8>, tensor<75xi64>) {
    %s, %i = prim.sort %a {dimension = 1 : i64, descending = false} : (tensor<3x25xui8>) -> (tensor<3x25xui8>, tensor<3x25xi64>)
    %0 = prim.reshape %s : (tensor<3x25xui8>) -> tensor<75xui8>
    %1, %p = prim.merge %0 {dimension = 0 : i64, descending = false, run = 25 : i64} : (tensor<75xui8>) -> (tensor<75xui8>, tensor<75xi64>)
    return %1, %p : tensor<75xui8>, tensor<75xi64> })", 200},
  {"a_run_longer_than_the_line", R"(func.func @f(%a: tensor<3x25xf32>) -> (tensor<3x25xf32>, tensor<3x25xi64>) {
    %s, %i = prim.sort %a {dimension = 1 : i64, descending = false} : (tensor<3x25xf32>) -> (tensor<3x25xf32>, tensor<3x25xi64>)
    %1, %p = prim.merge %s {dimension = 1 : i64, descending = false, run = 40 : i64} : (tensor<3x25xf32>) -> (tensor<3x25xf32>, tensor<3x25xi64>)
    return %1, %p : tensor<3x25xf32>, tensor<3x25xi64> })"},
  {"columns", R"(func.func @f(%a: tensor<2x25x3xf32>) -> (tensor<50x3xf32>, tensor<50x3xi64>) {
    %s, %i = prim.sort %a {dimension = 1 : i64, descending = true} : (tensor<2x25x3xf32>) -> (tensor<2x25x3xf32>, tensor<2x25x3xi64>)
    %0 = prim.reshape %s : (tensor<2x25x3xf32>) -> tensor<50x3xf32>
    %1, %p = prim.merge %0 {dimension = 0 : i64, descending = true, run = 25 : i64} : (tensor<50x3xf32>) -> (tensor<50x3xf32>, tensor<50x3xi64>)
    return %1, %p : tensor<50x3xf32>, tensor<50x3xi64> })"},
  {"no_numbers", R"(func.func @f(%a: tensor<2x30xf32>) -> (tensor<60xf32>, tensor<60xi64>) {
    %l = prim.log %a : (tensor<2x30xf32>) -> tensor<2x30xf32>
    %s, %i = prim.sort %l {dimension = 1 : i64, descending = false} : (tensor<2x30xf32>) -> (tensor<2x30xf32>, tensor<2x30xi64>)
    %0 = prim.reshape %s : (tensor<2x30xf32>) -> tensor<60xf32>
    %1, %p = prim.merge %0 {dimension = 0 : i64, descending = false, run = 30 : i64} : (tensor<60xf32>) -> (tensor<60xf32>, tensor<60xi64>)
    return %1, %p : tensor<60xf32>, tensor<60xi64> })"},
};

// What a GPU sorts at once are 4096 elements.
static const KernelCase kLongSorts[] = {
  {"of_floats", R"(func.func @f(%a: tensor<1x9001xf32>) -> (tensor<1x9001xf32>, tensor<1x9001xi64>) {
    %l = prim.log %a : (tensor<1x9001xf32>) -> tensor<1x9001xf32>
    %0, %1 = prim.sort %l {dimension = 1 : i64, descending = true} : (tensor<1x9001xf32>) -> (tensor<1x9001xf32>, tensor<1x9001xi64>)
    return %0, %1 : tensor<1x9001xf32>, tensor<1x9001xi64> })", 3, 2e-6, false, true},
  {"of_columns_of_equal_integers", R"(func.func @f(%a: tensor<4099x2xi64>) -> tensor<4099x2xi64> {
    %0, %1 = prim.sort %a {dimension = 0 : i64, descending = false} : (tensor<4099x2xi64>) -> (tensor<4099x2xi64>, tensor<4099x2xi64>)
    return %1 : tensor<4099x2xi64> })", 7, 0, false, true},
  {"of_bytes", R"(func.func @f(%a: tensor<2x9000xui8>) -> (tensor<2x9000xui8>, tensor<2x9000xi64>) {
    %0, %1 = prim.sort %a {dimension = 1 : i64, descending = false} : (tensor<2x9000xui8>) -> (tensor<2x9000xui8>, tensor<2x9000xi64>)
    return %0, %1 : tensor<2x9000xui8>, tensor<2x9000xi64> })", 256, 0, false, true},
  {"and_their_gradient", R"(func.func @f(%a: tensor<5000xf32>) -> tensor<5000xf32> {
    %0, %1 = prim.sort %a {dimension = 0 : i64, descending = false} : (tensor<5000xf32>) -> (tensor<5000xf32>, tensor<5000xi64>)
    return %0 : tensor<5000xf32> })", 3, 2e-6, true, true},
};

#define SORTED(COUNT) "%s, %o = prim.sort %i {dimension = 0 : i64, descending = false} : (tensor<" COUNT "xi64>) -> (tensor<" COUNT "xi64>, tensor<" COUNT "xi64>)\n"
static const KernelCase kScatters[] = {
  {"many_rows", "func.func @f(%a: tensor<200x40xf32>, %i: tensor<300xi64>, %u: tensor<300x40xf32>) -> tensor<200x40xf32> {\n" SORTED("300") R"(
    %0 = prim.gather %u, %o {axis = 0 : i64} : (tensor<300x40xf32>, tensor<300xi64>) -> tensor<300x40xf32>
    %1 = prim.scatter %a, %s, %0 {axis = 0 : i64, kind = #prim<scatter_kind add>, indices_are_sorted} : (tensor<200x40xf32>, tensor<300xi64>, tensor<300x40xf32>) -> tensor<200x40xf32>
    return %1 : tensor<200x40xf32> })", 200},
  {"few_rows", "func.func @f(%a: tensor<3x40xf32>, %i: tensor<501xi64>, %u: tensor<501x40xf32>) -> tensor<3x40xf32> {\n" SORTED("501") R"(
    %0 = prim.gather %u, %o {axis = 0 : i64} : (tensor<501x40xf32>, tensor<501xi64>) -> tensor<501x40xf32>
    %1 = prim.scatter %a, %s, %0 {axis = 0 : i64, kind = #prim<scatter_kind add>, indices_are_sorted} : (tensor<3x40xf32>, tensor<501xi64>, tensor<501x40xf32>) -> tensor<3x40xf32>
    return %1 : tensor<3x40xf32> })", 3},
  {"rows_without_updates", "func.func @f(%a: tensor<9x70xf32>, %i: tensor<100xi64>, %u: tensor<100x70xf32>) -> tensor<9x70xf32> {\n" SORTED("100") R"(
    %1 = prim.scatter %a, %s, %u {axis = 0 : i64, kind = #prim<scatter_kind add>, indices_are_sorted} : (tensor<9x70xf32>, tensor<100xi64>, tensor<100x70xf32>) -> tensor<9x70xf32>
    return %1 : tensor<9x70xf32> })", 2},
  {"the_last_one_stays", "func.func @f(%a: tensor<7xf32>, %i: tensor<100xi64>, %u: tensor<100xf32>) -> tensor<7xf32> {\n" SORTED("100") R"(
    %0 = prim.gather %u, %o {axis = 0 : i64} : (tensor<100xf32>, tensor<100xi64>) -> tensor<100xf32>
    %1 = prim.scatter %a, %s, %0 {axis = 0 : i64, kind = #prim<scatter_kind set>, indices_are_sorted} : (tensor<7xf32>, tensor<100xi64>, tensor<100xf32>) -> tensor<7xf32>
    return %1 : tensor<7xf32> })", 7},
  {"greatest_in_the_middle", "func.func @f(%a: tensor<3x7x5xf32>, %i: tensor<40xi64>, %u: tensor<3x40x5xf32>) -> tensor<3x7x5xf32> {\n" SORTED("40") R"(
    %1 = prim.scatter %a, %s, %u {axis = 1 : i64, kind = #prim<scatter_kind max>, indices_are_sorted} : (tensor<3x7x5xf32>, tensor<40xi64>, tensor<3x40x5xf32>) -> tensor<3x7x5xf32>
    return %1 : tensor<3x7x5xf32> })", 7},
  {"one_index", R"(func.func @f(%a: tensor<7x3xf32>, %i: tensor<1xi32>, %u: tensor<1x3xf32>) -> tensor<7x3xf32> {
    %1 = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>, indices_are_sorted} : (tensor<7x3xf32>, tensor<1xi32>, tensor<1x3xf32>) -> tensor<7x3xf32>
    return %1 : tensor<7x3xf32> })", 7},
};

static const KernelCase kPermutations[] = {
  {"one_dimension", "func.func @f(%a: tensor<700xf32>, %i: tensor<700xi64>, %u: tensor<700xf32>) -> tensor<700xf32> {\n" SORTED("700") R"(
    %1 = prim.scatter %a, %o, %u {axis = 0 : i64, kind = #prim<scatter_kind add>, unique_indices} : (tensor<700xf32>, tensor<700xi64>, tensor<700xf32>) -> tensor<700xf32>
    return %1 : tensor<700xf32> })", 200},
  {"rows", "func.func @f(%a: tensor<300x21xf32>, %i: tensor<300xi64>, %u: tensor<300x21xf32>) -> tensor<300x21xf32> {\n" SORTED("300") R"(
    %e = prim.neg %u : (tensor<300x21xf32>) -> tensor<300x21xf32>
    %1 = prim.scatter %a, %o, %e {axis = 0 : i64, kind = #prim<scatter_kind set>, unique_indices} : (tensor<300x21xf32>, tensor<300xi64>, tensor<300x21xf32>) -> tensor<300x21xf32>
    return %1 : tensor<300x21xf32> })", 7},
  {"in_the_middle", "func.func @f(%a: tensor<3x100x5xf32>, %i: tensor<100xi64>, %u: tensor<3x4x25x5xf32>) -> tensor<3x100x5xf32> {\n" SORTED("100") R"(
    %p = prim.reshape %o : (tensor<100xi64>) -> tensor<4x25xi64>
    %1 = prim.scatter %a, %p, %u {axis = 1 : i64, kind = #prim<scatter_kind mul>, unique_indices} : (tensor<3x100x5xf32>, tensor<4x25xi64>, tensor<3x4x25x5xf32>) -> tensor<3x100x5xf32>
    return %1 : tensor<3x100x5xf32> })", 7},
  {"at_the_end", "func.func @f(%a: tensor<3x50xf32>, %i: tensor<50xi64>, %u: tensor<3x50xf32>) -> tensor<3x50xf32> {\n" SORTED("50") R"(
    %1 = prim.scatter %a, %o, %u {axis = 1 : i64, kind = #prim<scatter_kind max>, unique_indices} : (tensor<3x50xf32>, tensor<50xi64>, tensor<3x50xf32>) -> tensor<3x50xf32>
    return %1 : tensor<3x50xf32> })", 7},
  {"of_some_rows", "func.func @f(%a: tensor<60x3xf32>, %i: tensor<50xi64>, %u: tensor<50x3xf32>) -> tensor<60x3xf32> {\n" SORTED("50") R"(
    %1 = prim.scatter %a, %o, %u {axis = 0 : i64, kind = #prim<scatter_kind add>, unique_indices} : (tensor<60x3xf32>, tensor<50xi64>, tensor<50x3xf32>) -> tensor<60x3xf32>
    return %1 : tensor<60x3xf32> })", 7},
  {"one_index", R"(func.func @f(%a: tensor<1x3xf32>, %u: tensor<3xf32>) -> tensor<1x3xf32> {
    %i = prim.constant dense<0> : tensor<i32>
    %1 = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>, unique_indices} : (tensor<1x3xf32>, tensor<i32>, tensor<3xf32>) -> tensor<1x3xf32>
    return %1 : tensor<1x3xf32> })"},
  {"without_columns", R"(func.func @f(%a: tensor<1x0xf32>, %u: tensor<1x0xf32>) -> tensor<1x0xf32> {
    %i = prim.constant dense<0> : tensor<1xi32>
    %1 = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>, unique_indices} : (tensor<1x0xf32>, tensor<1xi32>, tensor<1x0xf32>) -> tensor<1x0xf32>
    return %1 : tensor<1x0xf32> })"},
  {"of_sorted_lines_of_rows", R"(func.func @f(%a: tensor<4x130x5xf32>, %k: tensor<4x130xf32>) -> tensor<4x130x5xf32> {
    %0, %o = prim.sort %k {dimension = 1 : i64, descending = false} : (tensor<4x130xf32>) -> (tensor<4x130xf32>, tensor<4x130xi64>)
    %p = prim.broadcast %o {dimensions = array<i64: 0, 1>} : (tensor<4x130xi64>) -> tensor<4x130x5xi64>
    %five = prim.constant dense<5> : tensor<4x130x5xi64>
    %many = prim.constant dense<650> : tensor<4x130x5xi64>
    %l = prim.iota {dimension = 0 : i64} : () -> tensor<4x130x5xi64>
    %c = prim.iota {dimension = 2 : i64} : () -> tensor<4x130x5xi64>
    %1 = prim.mul %p, %five : (tensor<4x130x5xi64>, tensor<4x130x5xi64>) -> tensor<4x130x5xi64>
    %2 = prim.mul %l, %many : (tensor<4x130x5xi64>, tensor<4x130x5xi64>) -> tensor<4x130x5xi64>
    %3 = prim.add %1, %2 : (tensor<4x130x5xi64>, tensor<4x130x5xi64>) -> tensor<4x130x5xi64>
    %4 = prim.add %3, %c : (tensor<4x130x5xi64>, tensor<4x130x5xi64>) -> tensor<4x130x5xi64>
    %5 = prim.reshape %a : (tensor<4x130x5xf32>) -> tensor<2600xf32>
    %6 = prim.gather %5, %4 {axis = 0 : i64} : (tensor<2600xf32>, tensor<4x130x5xi64>) -> tensor<4x130x5xf32>
    return %6 : tensor<4x130x5xf32> })", 3, 2e-6, true, true},
  {"of_sorted_lines", R"(func.func @f(%a: tensor<4x130x5xf32>) -> tensor<4x130x5xf32> {
    %0, %1 = prim.sort %a {dimension = 1 : i64, descending = false} : (tensor<4x130x5xf32>) -> (tensor<4x130x5xf32>, tensor<4x130x5xi64>)
    return %0 : tensor<4x130x5xf32> })", 3, 2e-6, true, true},
};

static const KernelCase kOutside[] = {
  {"below", "func.func @f(%a: tensor<60x3xf32>, %j: tensor<64xi64>, %u: tensor<64x3xf32>) -> tensor<60x3xf32> {\n"
    "%one = prim.constant dense<1> : tensor<64xi64>\n"
    "%i = prim.sub %j, %one : (tensor<64xi64>, tensor<64xi64>) -> tensor<64xi64>\n" SORTED("64") R"(
    %1 = prim.scatter %a, %s, %u {axis = 0 : i64, kind = #prim<scatter_kind add>, indices_are_sorted} : (tensor<60x3xf32>, tensor<64xi64>, tensor<64x3xf32>) -> tensor<60x3xf32>
    return %1 : tensor<60x3xf32> })", 2},
  {"above_of_few_rows", "func.func @f(%a: tensor<3x3xf32>, %i: tensor<640xi64>, %u: tensor<640x3xf32>) -> tensor<3x3xf32> {\n" SORTED("640") R"(
    %1 = prim.scatter %a, %s, %u {axis = 0 : i64, kind = #prim<scatter_kind add>, indices_are_sorted} : (tensor<3x3xf32>, tensor<640xi64>, tensor<640x3xf32>) -> tensor<3x3xf32>
    return %1 : tensor<3x3xf32> })", 4},
};
// clang-format on

static void check(llvm::ArrayRef<KernelCase> cases) {
  for (const KernelCase &test : cases) {
    INFO(test.name);
    CHECK(runKernelCase(test, "x86-64-v3").error == "");
  }
}

TEST_CASE("sorted runs are merged") { check(kMerges); }
TEST_CASE("sorts of lines in several runs") { check(kLongSorts); }
TEST_CASE("scatters by sorted indices") { check(kScatters); }

TEST_CASE("scatters of one update to each row") { check(kPermutations); }

TEST_CASE("sorted indices out of range are errors in the data") {
  for (const KernelCase &test : kOutside) {
    INFO(test.name);
    CHECK(runKernelCase(test, "x86-64-v3", /*interpreted=*/false).error.find("out of range") !=
          std::string::npos);
  }
}
