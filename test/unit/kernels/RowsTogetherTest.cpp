// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of which many rows read the same: a task of a GPU takes some of them at once. There
// are as many as keep one busy.
#include "kernels/Harness.h"

#include <catch2/catch.hpp>

using accc::test::KernelCase;

// clang-format off
static const KernelCase kCases[] = {
  {"short_rows", R"(func.func @f(%a: tensor<1003x5xf32>, %b: tensor<1050x5xf32>) -> tensor<1003x1050xf32> {
    %0 = prim.broadcast %a {dimensions = array<i64: 0, 2>} : (tensor<1003x5xf32>) -> tensor<1003x1050x5xf32>
    %1 = prim.broadcast %b {dimensions = array<i64: 1, 2>} : (tensor<1050x5xf32>) -> tensor<1003x1050x5xf32>
    %2 = prim.sub %0, %1 : (tensor<1003x1050x5xf32>, tensor<1003x1050x5xf32>) -> tensor<1003x1050x5xf32>
    %3 = prim.abs %2 : (tensor<1003x1050x5xf32>) -> tensor<1003x1050x5xf32>
    %4 = prim.reduce sum %3 {dimensions = array<i64: 2>} : (tensor<1003x1050x5xf32>) -> tensor<1003x1050xf32>
    %5 = prim.sqrt %4 : (tensor<1003x1050xf32>) -> tensor<1003x1050xf32>
    return %5 : tensor<1003x1050xf32> })"},
  {"rows_of_two_reductions", R"(func.func @f(%a: tensor<2x251x9xf32>, %b: tensor<2x270x9xf32>) -> (tensor<2x251x270xf32>, tensor<2x251x270xf32>) {
    %0 = prim.broadcast %a {dimensions = array<i64: 0, 1, 3>} : (tensor<2x251x9xf32>) -> tensor<2x251x270x9xf32>
    %1 = prim.broadcast %b {dimensions = array<i64: 0, 2, 3>} : (tensor<2x270x9xf32>) -> tensor<2x251x270x9xf32>
    %2 = prim.mul %0, %1 : (tensor<2x251x270x9xf32>, tensor<2x251x270x9xf32>) -> tensor<2x251x270x9xf32>
    %3 = prim.reduce sum %2 {dimensions = array<i64: 3>} : (tensor<2x251x270x9xf32>) -> tensor<2x251x270xf32>
    %4 = prim.reduce max %2 {dimensions = array<i64: 3>} : (tensor<2x251x270x9xf32>) -> tensor<2x251x270xf32>
    return %3, %4 : tensor<2x251x270xf32>, tensor<2x251x270xf32> })"},
  {"columns", R"(func.func @f(%a: tensor<515x256xf32>, %b: tensor<70x256xf32>, %g: tensor<515x70xf32>) -> tensor<515x256xf32> {
    %0 = prim.broadcast %a {dimensions = array<i64: 0, 2>} : (tensor<515x256xf32>) -> tensor<515x70x256xf32>
    %1 = prim.broadcast %b {dimensions = array<i64: 1, 2>} : (tensor<70x256xf32>) -> tensor<515x70x256xf32>
    %2 = prim.broadcast %g {dimensions = array<i64: 0, 1>} : (tensor<515x70xf32>) -> tensor<515x70x256xf32>
    %3 = prim.max %0, %1 : (tensor<515x70x256xf32>, tensor<515x70x256xf32>) -> tensor<515x70x256xf32>
    %4 = prim.mul %3, %2 : (tensor<515x70x256xf32>, tensor<515x70x256xf32>) -> tensor<515x70x256xf32>
    %5 = prim.reduce sum %4 {dimensions = array<i64: 1>} : (tensor<515x70x256xf32>) -> tensor<515x256xf32>
    return %5 : tensor<515x256xf32> })"},
  {"columns_of_bf16", R"(func.func @f(%a: tensor<515x512xbf16>, %b: tensor<70x512xbf16>) -> tensor<515x512xbf16> {
    %0 = prim.broadcast %a {dimensions = array<i64: 0, 2>} : (tensor<515x512xbf16>) -> tensor<515x70x512xbf16>
    %1 = prim.broadcast %b {dimensions = array<i64: 1, 2>} : (tensor<70x512xbf16>) -> tensor<515x70x512xbf16>
    %2 = prim.max %0, %1 : (tensor<515x70x512xbf16>, tensor<515x70x512xbf16>) -> tensor<515x70x512xbf16>
    %3 = prim.reduce min %2 {dimensions = array<i64: 1>} : (tensor<515x70x512xbf16>) -> tensor<515x512xbf16>
    return %3 : tensor<515x512xbf16> })"},
};
// clang-format on

TEST_CASE("rows that read the same are what the interpreter has of each") {
  for (const KernelCase &test : kCases)
    DYNAMIC_SECTION(test.name) {
      accc::test::KernelOutcome outcome = accc::test::runKernelCase(test, "x86-64-v3");
      INFO(outcome.error);
      CHECK(outcome.error.empty());
    }
}
