// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that give a tensor and a concatenation of tensors of its shape, which they walk once.
#include "kernels/CheckCases.h"

#include <catch2/catch.hpp>

using accc::test::KernelCase;

// clang-format off
static const KernelCase kCases[] = {
  // What the step of a recurrent net gives backwards.
  {"pieces_inner", R"(func.func @f(%a: tensor<4x64xf32>, %b: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x192xf32>) {
    %0 = prim.add %a, %b : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    %1 = prim.mul %0, %a : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    %2 = prim.concatenate %1, %0, %b {dimension = 1 : i64} : (tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x192xf32>
    return %0, %2 : tensor<4x64xf32>, tensor<4x192xf32> })"},
  {"pieces_odd", R"(func.func @f(%a: tensor<3x7xf32>) -> (tensor<3x14xf32>, tensor<3x7xf32>) {
    %0 = prim.tanh %a : (tensor<3x7xf32>) -> tensor<3x7xf32>
    %1 = prim.concatenate %0, %a {dimension = 1 : i64} : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x14xf32>
    return %1, %0 : tensor<3x14xf32>, tensor<3x7xf32> })"},
  {"pieces_outer", R"(func.func @f(%a: tensor<5x37xf32>) -> (tensor<5x37xf32>, tensor<15x37xf32>) {
    %0 = prim.neg %a : (tensor<5x37xf32>) -> tensor<5x37xf32>
    %1 = prim.mul %0, %0 : (tensor<5x37xf32>, tensor<5x37xf32>) -> tensor<5x37xf32>
    %2 = prim.concatenate %1, %0, %1 {dimension = 0 : i64} : (tensor<5x37xf32>, tensor<5x37xf32>, tensor<5x37xf32>) -> tensor<15x37xf32>
    return %0, %2 : tensor<5x37xf32>, tensor<15x37xf32> })"},
  {"pieces_of_one_column", R"(func.func @f(%a: tensor<33x1xf32>) -> (tensor<33x1xf32>, tensor<33x2xf32>) {
    %0 = prim.exp %a : (tensor<33x1xf32>) -> tensor<33x1xf32>
    %1 = prim.concatenate %a, %0 {dimension = 1 : i64} : (tensor<33x1xf32>, tensor<33x1xf32>) -> tensor<33x2xf32>
    return %0, %1 : tensor<33x1xf32>, tensor<33x2xf32> })"},
  {"pieces_middle", R"(func.func @f(%a: tensor<2x3x40xf32>, %b: tensor<40xf32>) -> (tensor<2x6x40xf32>, tensor<2x3x40xf32>, tensor<2x3x80xf32>) {
    %0 = prim.broadcast %b {dimensions = array<i64: 2>} : (tensor<40xf32>) -> tensor<2x3x40xf32>
    %1 = prim.sub %a, %0 : (tensor<2x3x40xf32>, tensor<2x3x40xf32>) -> tensor<2x3x40xf32>
    %2 = prim.concatenate %1, %a {dimension = 1 : i64} : (tensor<2x3x40xf32>, tensor<2x3x40xf32>) -> tensor<2x6x40xf32>
    %3 = prim.concatenate %1, %1 {dimension = 2 : i64} : (tensor<2x3x40xf32>, tensor<2x3x40xf32>) -> tensor<2x3x80xf32>
    return %2, %1, %3 : tensor<2x6x40xf32>, tensor<2x3x40xf32>, tensor<2x3x80xf32> })"},
  {"pieces_transposed", R"(func.func @f(%a: tensor<32x48xf32>, %b: tensor<48x32xf32>) -> (tensor<48x32xf32>, tensor<48x64xf32>) {
    %0 = prim.transpose %a {permutation = array<i64: 1, 0>} : (tensor<32x48xf32>) -> tensor<48x32xf32>
    %1 = prim.add %0, %b : (tensor<48x32xf32>, tensor<48x32xf32>) -> tensor<48x32xf32>
    %2 = prim.concatenate %b, %1 {dimension = 1 : i64} : (tensor<48x32xf32>, tensor<48x32xf32>) -> tensor<48x64xf32>
    return %1, %2 : tensor<48x32xf32>, tensor<48x64xf32> })"},
  // The concatenation is read in another order as well.
  {"pieces_read_again", R"(func.func @f(%a: tensor<6x16xf32>) -> (tensor<6x16xf32>, tensor<6x32xf32>, tensor<6x16xf32>) {
    %0 = prim.neg %a : (tensor<6x16xf32>) -> tensor<6x16xf32>
    %1 = prim.concatenate %a, %0 {dimension = 1 : i64} : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x32xf32>
    %2 = prim.slice %1 {starts = array<i64: 0, 8>, limits = array<i64: 6, 24>, strides = array<i64: 1, 1>} : (tensor<6x32xf32>) -> tensor<6x16xf32>
    return %0, %1, %2 : tensor<6x16xf32>, tensor<6x32xf32>, tensor<6x16xf32> })"},
  {"pieces_of_truths", R"(func.func @f(%a: tensor<5x24xf32>, %b: tensor<5x24xf32>) -> (tensor<5x24xf32>, tensor<5x48xi1>) {
    %0 = prim.add %a, %b : (tensor<5x24xf32>, tensor<5x24xf32>) -> tensor<5x24xf32>
    %1 = prim.compare lt %a, %0 : (tensor<5x24xf32>, tensor<5x24xf32>) -> tensor<5x24xi1>
    %2 = prim.compare lt %b, %0 : (tensor<5x24xf32>, tensor<5x24xf32>) -> tensor<5x24xi1>
    %3 = prim.concatenate %1, %2 {dimension = 1 : i64} : (tensor<5x24xi1>, tensor<5x24xi1>) -> tensor<5x48xi1>
    return %0, %3 : tensor<5x24xf32>, tensor<5x48xi1> })"},
};
// clang-format on

TEST_CASE("kernels write concatenations piece by piece") { accc::test::checkKernelCases(kCases); }
