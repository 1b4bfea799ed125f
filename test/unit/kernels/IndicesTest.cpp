// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices that a kernel computes: those of lanes that count for nothing may be anything, all others
// are checked at both ends.
#include "kernels/Harness.h"

#include <catch2/catch.hpp>

using namespace accc::test;

// clang-format off
static const KernelCase kCases[] = {
  // 13 of 16 lanes: the positions of the rest are out of range.
  {"in_the_last_vector", R"(func.func @f(%a: tensor<13xf32>) -> tensor<13xf32> {
    %i = prim.iota {dimension = 0 : i64} : () -> tensor<13xi64>
    %0 = prim.gather %a, %i {axis = 0 : i64} : (tensor<13xf32>, tensor<13xi64>) -> tensor<13xf32>
    return %0 : tensor<13xf32> })"},
  {"of_32_bits", R"(func.func @f(%a: tensor<13xf32>) -> tensor<13xf32> {
    %i = prim.iota {dimension = 0 : i64} : () -> tensor<13xi32>
    %0 = prim.gather %a, %i {axis = 0 : i64} : (tensor<13xf32>, tensor<13xi32>) -> tensor<13xf32>
    return %0 : tensor<13xf32> })"},
  {"beside_padding", R"(func.func @f(%a: tensor<16xf32>, %z: tensor<f32>) -> tensor<32xf32> {
    %i = prim.iota {dimension = 0 : i64} : () -> tensor<16xi64>
    %0 = prim.gather %a, %i {axis = 0 : i64} : (tensor<16xf32>, tensor<16xi64>) -> tensor<16xf32>
    %1 = prim.pad %0, %z {low = array<i64: 9>, high = array<i64: 7>, interior = array<i64: 0>} : (tensor<16xf32>, tensor<f32>) -> tensor<32xf32>
    return %1 : tensor<32xf32> })"},
};

static const KernelCase kOutside[] = {
  {"below", R"(func.func @f(%a: tensor<4x24xf32>, %i: tensor<64xi64>) -> tensor<64x24xf32> {
    %three = prim.constant dense<3> : tensor<64xi64>
    %0 = prim.sub %i, %three : (tensor<64xi64>, tensor<64xi64>) -> tensor<64xi64>
    %1 = prim.gather %a, %0 {axis = 0 : i64} : (tensor<4x24xf32>, tensor<64xi64>) -> tensor<64x24xf32>
    return %1 : tensor<64x24xf32> })"},
  {"below_in_lanes", R"(func.func @f(%a: tensor<24xf32>, %i: tensor<64xi32>) -> tensor<64xf32> {
    %three = prim.constant dense<3> : tensor<64xi32>
    %0 = prim.sub %i, %three : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi32>
    %1 = prim.gather %a, %0 {axis = 0 : i64} : (tensor<24xf32>, tensor<64xi32>) -> tensor<64xf32>
    return %1 : tensor<64xf32> })"},
  {"the_first_above", R"(func.func @f(%a: tensor<13xf32>) -> tensor<14xf32> {
    %i = prim.iota {dimension = 0 : i64} : () -> tensor<14xi64>
    %0 = prim.gather %a, %i {axis = 0 : i64} : (tensor<13xf32>, tensor<14xi64>) -> tensor<14xf32>
    return %0 : tensor<14xf32> })"},
};
// clang-format on

TEST_CASE("indices of lanes that count for nothing are not checked") {
  for (const KernelCase &test : kCases)
    for (const char *arch : {"x86-64-v3", "native"}) {
      INFO(test.name << " on " << arch);
      CHECK(runKernelCase(test, arch).error == "");
    }
}

TEST_CASE("indices just out of range are errors in the data") {
  for (const KernelCase &test : kOutside) {
    INFO(test.name);
    CHECK(runKernelCase(test, "x86-64-v3", /*interpreted=*/false).error.find("out of range") !=
          std::string::npos);
  }
}
