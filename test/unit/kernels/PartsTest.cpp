// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is cut into parts for the threads of a machine: long scans and reductions; and scatters of
// few updates a line, which become comparisons.
#include "kernels/CheckCases.h"

#include <catch2/catch.hpp>

using namespace accc::test;

// clang-format off
static const KernelCase kScans[] = {
  {"scan_of_rows_in_runs", R"(func.func @f(%a: tensor<2x4203xf32>, %b: tensor<4096x1xi64>) -> (tensor<2x4203xf32>, tensor<4096x1xi64>) {
    %0 = prim.cumulative sum %a {dimension = 1 : i64} : (tensor<2x4203xf32>) -> tensor<2x4203xf32>
    %1 = prim.cumulative sum %b {dimension = 0 : i64} : (tensor<4096x1xi64>) -> tensor<4096x1xi64>
    return %0, %1 : tensor<2x4203xf32>, tensor<4096x1xi64> })", 1000, 2e-6, false, true},
  {"scan_of_columns_in_runs", R"(func.func @f(%a: tensor<1030x3xi32>, %b: tensor<2x1024x5xf32>) -> (tensor<1030x3xi32>, tensor<2x1024x5xf32>) {
    %minus = prim.neg %a : (tensor<1030x3xi32>) -> tensor<1030x3xi32>
    %0 = prim.cumulative max %minus {dimension = 0 : i64} : (tensor<1030x3xi32>) -> tensor<1030x3xi32>
    %1 = prim.cumulative min %b {dimension = 1 : i64} : (tensor<2x1024x5xf32>) -> tensor<2x1024x5xf32>
    return %0, %1 : tensor<1030x3xi32>, tensor<2x1024x5xf32> })", 1000, 0, false, true},
  // Powers of -1: products of all elements are neither nothing nor infinite.
  {"product_in_runs", R"(func.func @f(%a: tensor<4100xf32>) -> tensor<4100xf32> {
    %s = prim.sign %a : (tensor<4100xf32>) -> tensor<4100xf32>
    %0 = prim.cumulative prod %s {dimension = 0 : i64} : (tensor<4100xf32>) -> tensor<4100xf32>
    return %0 : tensor<4100xf32> })", 3, 0, false, true},
};

static const KernelCase kReductions[] = {
  {"one_dimension_cut", R"(func.func @f(%a: tensor<1x131072xf32>, %b: tensor<4096x3xf32>) -> (tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<131072xf32>) {
    %0 = prim.reduce max %a {dimensions = array<i64: 0, 1>} : (tensor<1x131072xf32>) -> tensor<f32>
    %1 = prim.mul %a, %a : (tensor<1x131072xf32>, tensor<1x131072xf32>) -> tensor<1x131072xf32>
    %2 = prim.reduce sum %1 {dimensions = array<i64: 0, 1>} : (tensor<1x131072xf32>) -> tensor<f32>
    %3 = prim.reduce sum %b {dimensions = array<i64: 0>} : (tensor<4096x3xf32>) -> tensor<3xf32>
    %4 = prim.reshape %1 : (tensor<1x131072xf32>) -> tensor<131072xf32>
    %5 = prim.neg %4 : (tensor<131072xf32>) -> tensor<131072xf32>
    return %0, %2, %3, %5 : tensor<f32>, tensor<f32>, tensor<3xf32>, tensor<131072xf32> })", 3, 2e-6, false, true},
  {"after_whole_dimensions_one_cut", R"(func.func @f(%a: tensor<2x3x65536xf32>) -> tensor<3xf32> {
    %0 = prim.reduce min %a {dimensions = array<i64: 0, 2>} : (tensor<2x3x65536xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32> })", 3, 0, false, true},
  {"deviations_cut", R"(func.func @f(%a: tensor<131072xf32>) -> tensor<f32> {
    %n = prim.constant dense<7.62939453e-06> : tensor<f32>
    %0 = prim.reduce sum %a {dimensions = array<i64: 0>} : (tensor<131072xf32>) -> tensor<f32>
    %1 = prim.mul %0, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %2 = prim.broadcast %1 {dimensions = array<i64>} : (tensor<f32>) -> tensor<131072xf32>
    %3 = prim.sub %a, %2 : (tensor<131072xf32>, tensor<131072xf32>) -> tensor<131072xf32>
    %4 = prim.mul %3, %3 : (tensor<131072xf32>, tensor<131072xf32>) -> tensor<131072xf32>
    %5 = prim.reduce sum %4 {dimensions = array<i64: 0>} : (tensor<131072xf32>) -> tensor<f32>
    return %5 : tensor<f32> })", 3, 2e-6, false, true},
};

// Of several that are as great or as little, the first; NaN is before all others.
static const KernelCase kPlaces[] = {
  {"place_in_a_row_cut", R"(func.func @f(%a: tensor<1x131072xi32>, %b: tensor<2x65536xf32>) -> (tensor<1xi64>, tensor<2xi64>) {
    %0 = prim.arg_reduce max %a {dimension = 1 : i64} : (tensor<1x131072xi32>) -> tensor<1xi64>
    %1 = prim.arg_reduce min %b {dimension = 1 : i64} : (tensor<2x65536xf32>) -> tensor<2xi64>
    return %0, %1 : tensor<1xi64>, tensor<2xi64> })", 1000, 0, false, true},
  {"place_in_columns_cut", R"(func.func @f(%a: tensor<2x65536x3xi32>) -> tensor<2x3xi64> {
    %0 = prim.arg_reduce min %a {dimension = 1 : i64} : (tensor<2x65536x3xi32>) -> tensor<2x3xi64>
    return %0 : tensor<2x3xi64> })", 100000, 0, false, true},
  {"place_of_nan_cut", R"(func.func @f(%a: tensor<1x131072xf32>) -> tensor<1xi64> {
    %low = prim.constant dense<-1.9999> : tensor<1x131072xf32>
    %0 = prim.sub %a, %low : (tensor<1x131072xf32>, tensor<1x131072xf32>) -> tensor<1x131072xf32>
    %1 = prim.log %0 : (tensor<1x131072xf32>) -> tensor<1x131072xf32>
    %2 = prim.arg_reduce max %1 {dimension = 1 : i64} : (tensor<1x131072xf32>) -> tensor<1xi64>
    return %2 : tensor<1xi64> })", 3, 0, false, true},
};

static const KernelCase kComparisons[] = {
  {"gradient_of_the_greatest", R"(func.func @f(%x: tensor<3x50x7xf32>, %u: tensor<3x7xf32>) -> tensor<1050xf32> {
    %zeros = prim.constant dense<0.0> : tensor<1050xf32>
    %lines = prim.constant dense<350> : tensor<3x7xi64>
    %columns = prim.constant dense<7> : tensor<3x7xi64>
    %0 = prim.arg_reduce max %x {dimension = 1 : i64} : (tensor<3x50x7xf32>) -> tensor<3x7xi64>
    %1 = prim.mul %0, %columns : (tensor<3x7xi64>, tensor<3x7xi64>) -> tensor<3x7xi64>
    %line = prim.iota {dimension = 0 : i64} : () -> tensor<3x7xi64>
    %2 = prim.mul %line, %lines : (tensor<3x7xi64>, tensor<3x7xi64>) -> tensor<3x7xi64>
    %3 = prim.add %1, %2 : (tensor<3x7xi64>, tensor<3x7xi64>) -> tensor<3x7xi64>
    %column = prim.iota {dimension = 1 : i64} : () -> tensor<3x7xi64>
    %4 = prim.add %3, %column : (tensor<3x7xi64>, tensor<3x7xi64>) -> tensor<3x7xi64>
    %5 = prim.scatter %zeros, %4, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<1050xf32>, tensor<3x7xi64>, tensor<3x7xf32>) -> tensor<1050xf32>
    return %5 : tensor<1050xf32> })", 3, 0, false, true},
  // Of places that repeat, in fewer columns than the data has.
  {"several_of_a_line", R"(func.func @f(%x: tensor<480xf32>, %place: tensor<4x60xi64>, %u: tensor<4x60xf32>) -> (tensor<4x60xf32>, tensor<480xf32>) {
    %zero = prim.constant dense<0> : tensor<4x60xi64>
    %extent = prim.constant dense<5> : tensor<4x60xi64>
    %columns = prim.constant dense<96> : tensor<4x60xi64>
    %none = prim.constant dense<-1> : tensor<4x60xi64>
    %low = prim.compare ge %place, %zero : (tensor<4x60xi64>, tensor<4x60xi64>) -> tensor<4x60xi1>
    %high = prim.compare lt %place, %extent : (tensor<4x60xi64>, tensor<4x60xi64>) -> tensor<4x60xi1>
    %both = prim.and %low, %high : (tensor<4x60xi1>, tensor<4x60xi1>) -> tensor<4x60xi1>
    %row = prim.mul %place, %columns : (tensor<4x60xi64>, tensor<4x60xi64>) -> tensor<4x60xi64>
    %column = prim.iota {dimension = 1 : i64} : () -> tensor<4x60xi64>
    %flat = prim.add %row, %column : (tensor<4x60xi64>, tensor<4x60xi64>) -> tensor<4x60xi64>
    %i = prim.select %both, %flat, %none : (tensor<4x60xi1>, tensor<4x60xi64>, tensor<4x60xi64>) -> tensor<4x60xi64>
    %0 = prim.gather %x, %i {axis = 0 : i64} : (tensor<480xf32>, tensor<4x60xi64>) -> tensor<4x60xf32>
    %1 = prim.scatter %x, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<480xf32>, tensor<4x60xi64>, tensor<4x60xf32>) -> tensor<480xf32>
    return %0, %1 : tensor<4x60xf32>, tensor<480xf32> })", 5, 2e-6, false, true},
};
// clang-format on

TEST_CASE("scans in runs") { checkKernelCases(kScans); }
TEST_CASE("reductions in parts of a dimension") { checkKernelCases(kReductions); }
TEST_CASE("places of extremes in parts of a line") { checkKernelCases(kPlaces); }
TEST_CASE("scatters that compare") { checkKernelCases(kComparisons); }
