// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/CheckCases.h"
#include "kernels/Harness.h"

#include <catch2/catch.hpp>

using accc::test::KernelCase;

// clang-format off
static const KernelCase kCases[] = {
  {"add", R"(func.func @f(%a: tensor<37xf32>, %b: tensor<37xf32>) -> tensor<37xf32> {
    %0 = prim.add %a, %b : (tensor<37xf32>, tensor<37xf32>) -> tensor<37xf32>
    return %0 : tensor<37xf32> })"},
  {"scalar", R"(func.func @f(%a: tensor<f32>) -> tensor<f32> {
    %0 = prim.mul %a, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32> })"},
  {"large", R"(func.func @f(%a: tensor<300x1000xf32>, %b: tensor<300x1000xf32>) -> tensor<300x1000xf32> {
    %0 = prim.mul %a, %b : (tensor<300x1000xf32>, tensor<300x1000xf32>) -> tensor<300x1000xf32>
    return %0 : tensor<300x1000xf32> })"},
  {"broadcast_row", R"(func.func @f(%a: tensor<24xf32>) -> tensor<5x7x24xf32> {
    %0 = prim.broadcast %a {dimensions = array<i64: 2>} : (tensor<24xf32>) -> tensor<5x7x24xf32>
    return %0 : tensor<5x7x24xf32> })"},
  {"broadcast_channel", R"(func.func @f(%a: tensor<6xf32>) -> tensor<3x6x5x5xf32> {
    %0 = prim.broadcast %a {dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<3x6x5x5xf32>
    return %0 : tensor<3x6x5x5xf32> })"},
  {"transpose", R"(func.func @f(%a: tensor<19x33xf32>) -> tensor<33x19xf32> {
    %0 = prim.transpose %a {permutation = array<i64: 1, 0>} : (tensor<19x33xf32>) -> tensor<33x19xf32>
    return %0 : tensor<33x19xf32> })"},
  {"slice", R"(func.func @f(%a: tensor<9x40xf32>) -> tensor<4x19xf32> {
    %0 = prim.slice %a {starts = array<i64: 1, 2>, limits = array<i64: 9, 40>, strides = array<i64: 2, 2>} : (tensor<9x40xf32>) -> tensor<4x19xf32>
    return %0 : tensor<4x19xf32> })"},
  // The last element that is read is the tensor's last.
  {"slice_to_the_end", R"(func.func @f(%a: tensor<32xf32>) -> tensor<16xf32> {
    %0 = prim.slice %a {starts = array<i64: 1>, limits = array<i64: 32>, strides = array<i64: 2>} : (tensor<32xf32>) -> tensor<16xf32>
    return %0 : tensor<16xf32> })"},
  // An even index divided by 36 is not an even number.
  {"slice_reshape", R"(func.func @f(%a: tensor<16x2x36xf32>) -> tensor<10x1x23xf32> {
    %0 = prim.reshape %a : (tensor<16x2x36xf32>) -> tensor<12x2x48xf32>
    %1 = prim.slice %0 {starts = array<i64: 0, 1, 2>, limits = array<i64: 10, 2, 48>, strides = array<i64: 1, 3, 2>} : (tensor<12x2x48xf32>) -> tensor<10x1x23xf32>
    return %1 : tensor<10x1x23xf32> })"},
  {"pad", R"(func.func @f(%a: tensor<3x18xf32>) -> tensor<7x42xf32> {
    %v = prim.constant dense<1.5> : tensor<f32>
    %0 = prim.pad %a, %v {low = array<i64: 1, 3>, high = array<i64: 1, 4>, interior = array<i64: 1, 1>} : (tensor<3x18xf32>, tensor<f32>) -> tensor<7x42xf32>
    return %0 : tensor<7x42xf32> })"},
  {"pad_negative", R"(func.func @f(%a: tensor<5x18xf32>) -> tensor<5x17xf32> {
    %v = prim.constant dense<0.0> : tensor<f32>
    %0 = prim.pad %a, %v {low = array<i64: 1, -2>, high = array<i64: -1, 1>, interior = array<i64: 0, 0>} : (tensor<5x18xf32>, tensor<f32>) -> tensor<5x17xf32>
    return %0 : tensor<5x17xf32> })"},
  {"concatenate", R"(func.func @f(%a: tensor<4x5xf32>, %b: tensor<4x30xf32>) -> tensor<4x40xf32> {
    %0 = prim.concatenate %a, %b, %a {dimension = 1 : i64} : (tensor<4x5xf32>, tensor<4x30xf32>, tensor<4x5xf32>) -> tensor<4x40xf32>
    return %0 : tensor<4x40xf32> })"},
  {"concatenate_outer", R"(func.func @f(%a: tensor<4x5xf32>, %b: tensor<2x5xf32>) -> tensor<6x5xf32> {
    %0 = prim.concatenate %a, %b {dimension = 0 : i64} : (tensor<4x5xf32>, tensor<2x5xf32>) -> tensor<6x5xf32>
    return %0 : tensor<6x5xf32> })"},
  {"concatenate_many", R"(func.func @f(%a: tensor<3x16xf32>, %b: tensor<3x32xf32>) -> tensor<3x128xf32> {
    %0 = prim.concatenate %a, %b, %a, %a, %b, %a {dimension = 1 : i64} : (tensor<3x16xf32>, tensor<3x32xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x32xf32>, tensor<3x16xf32>) -> tensor<3x128xf32>
    return %0 : tensor<3x128xf32> })"},
  {"concatenate_many_padded", R"(func.func @f(%a: tensor<3x16xf32>, %b: tensor<3x32xf32>) -> tensor<3x117xf32> {
    %0 = prim.concatenate %a, %b, %a, %a, %a, %a {dimension = 1 : i64} : (tensor<3x16xf32>, tensor<3x32xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x112xf32>
    %v = prim.constant dense<1.0> : tensor<f32>
    %1 = prim.pad %0, %v {low = array<i64: 0, 3>, high = array<i64: 0, 2>, interior = array<i64: 0, 0>} : (tensor<3x112xf32>, tensor<f32>) -> tensor<3x117xf32>
    return %1 : tensor<3x117xf32> })"},
  {"concatenate_many_reduced", R"(func.func @f(%a: tensor<3x16xf32>, %b: tensor<3x32xf32>) -> tensor<112xf32> {
    %0 = prim.concatenate %a, %b, %a, %a, %a, %a {dimension = 1 : i64} : (tensor<3x16xf32>, tensor<3x32xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x112xf32>
    %1 = prim.reduce sum %0 {dimensions = array<i64: 0>} : (tensor<3x112xf32>) -> tensor<112xf32>
    return %1 : tensor<112xf32> })"},
  {"concatenate_many_masked", R"(func.func @f(%a: tensor<3x5xf32>, %b: tensor<3x30xf32>) -> tensor<3x80xf32> {
    %0 = prim.concatenate %a, %a, %b, %a, %b, %a {dimension = 1 : i64} : (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x30xf32>, tensor<3x5xf32>, tensor<3x30xf32>, tensor<3x5xf32>) -> tensor<3x80xf32>
    return %0 : tensor<3x80xf32> })"},
  {"concatenate_many_middle", R"(func.func @f(%a: tensor<2x1x3x7xf32>, %b: tensor<2x2x3x7xf32>) -> tensor<2x9x3x7xf32> {
    %0 = prim.concatenate %a, %b, %a, %a, %b, %b {dimension = 1 : i64} : (tensor<2x1x3x7xf32>, tensor<2x2x3x7xf32>, tensor<2x1x3x7xf32>, tensor<2x1x3x7xf32>, tensor<2x2x3x7xf32>, tensor<2x2x3x7xf32>) -> tensor<2x9x3x7xf32>
    return %0 : tensor<2x9x3x7xf32> })"},
  {"concatenate_many_outer", R"(func.func @f(%a: tensor<1x37xf32>, %b: tensor<2x37xf32>) -> tensor<8x37xf32> {
    %0 = prim.concatenate %a, %b, %b, %a, %a, %a {dimension = 0 : i64} : (tensor<1x37xf32>, tensor<2x37xf32>, tensor<2x37xf32>, tensor<1x37xf32>, tensor<1x37xf32>, tensor<1x37xf32>) -> tensor<8x37xf32>
    return %0 : tensor<8x37xf32> })"},
  {"concatenate_many_reshaped", R"(func.func @f(%a: tensor<3x16xf32>, %b: tensor<96xf32>) -> tensor<3x128xf32> {
    %0 = prim.neg %a : (tensor<3x16xf32>) -> tensor<3x16xf32>
    %1 = prim.reshape %b : (tensor<96xf32>) -> tensor<3x32xf32>
    %2 = prim.concatenate %0, %1, %a, %a, %1, %a {dimension = 1 : i64} : (tensor<3x16xf32>, tensor<3x32xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x32xf32>, tensor<3x16xf32>) -> tensor<3x128xf32>
    return %2 : tensor<3x128xf32> })"},
  {"concatenate_many_others", R"(func.func @f(%a: tensor<1x37xf32>, %b: tensor<2x37xf32>) -> tensor<11x37xf32> {
    %0 = prim.neg %a : (tensor<1x37xf32>) -> tensor<1x37xf32>
    %1 = prim.exp %b : (tensor<2x37xf32>) -> tensor<2x37xf32>
    %2 = prim.concatenate %a, %0, %b, %a, %a, %1, %a, %b {dimension = 0 : i64} : (tensor<1x37xf32>, tensor<1x37xf32>, tensor<2x37xf32>, tensor<1x37xf32>, tensor<1x37xf32>, tensor<2x37xf32>, tensor<1x37xf32>, tensor<2x37xf32>) -> tensor<11x37xf32>
    return %2 : tensor<11x37xf32> })"},
  {"reverse", R"(func.func @f(%a: tensor<4x35xf32>) -> tensor<4x35xf32> {
    %0 = prim.reverse %a {dimensions = array<i64: 0, 1>} : (tensor<4x35xf32>) -> tensor<4x35xf32>
    return %0 : tensor<4x35xf32> })"},
  {"gather", R"(func.func @f(%a: tensor<11x24xf32>, %i: tensor<3x5xi64>) -> tensor<3x5x24xf32> {
    %0 = prim.gather %a, %i {axis = 0 : i64} : (tensor<11x24xf32>, tensor<3x5xi64>) -> tensor<3x5x24xf32>
    return %0 : tensor<3x5x24xf32> })", 11},
  {"gather_inner", R"(func.func @f(%a: tensor<4x11xf32>, %i: tensor<37xi32>) -> tensor<4x37xf32> {
    %0 = prim.gather %a, %i {axis = 1 : i64} : (tensor<4x11xf32>, tensor<37xi32>) -> tensor<4x37xf32>
    return %0 : tensor<4x37xf32> })", 11},
  {"scatter_add", R"(func.func @f(%a: tensor<7x24xf32>, %i: tensor<3x5xi64>, %u: tensor<3x5x24xf32>) -> tensor<7x24xf32> {
    %0 = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<7x24xf32>, tensor<3x5xi64>, tensor<3x5x24xf32>) -> tensor<7x24xf32>
    return %0 : tensor<7x24xf32> })", 7},
  {"scatter_scalar", R"(func.func @f(%a: tensor<7xf32>, %i: tensor<12xi64>, %u: tensor<12xf32>) -> tensor<7xf32> {
    %0 = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind set>} : (tensor<7xf32>, tensor<12xi64>, tensor<12xf32>) -> tensor<7xf32>
    return %0 : tensor<7xf32> })", 7},
  {"scatter_add_many", R"(func.func @f(%a: tensor<7x70xf32>, %i: tensor<100xi64>, %u: tensor<100x70xf32>) -> tensor<7x70xf32> {
    %0 = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<7x70xf32>, tensor<100xi64>, tensor<100x70xf32>) -> tensor<7x70xf32>
    return %0 : tensor<7x70xf32> })", 7, 1e-5},
  {"scatter_add_few_rows", R"(func.func @f(%a: tensor<2x40xf32>, %i: tensor<7x23xi64>, %u: tensor<7x23x40xf32>) -> tensor<2x40xf32> {
    %0 = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<2x40xf32>, tensor<7x23xi64>, tensor<7x23x40xf32>) -> tensor<2x40xf32>
    return %0 : tensor<2x40xf32> })", 2, 1e-5},
  {"scatter_add_few_rows_of_middle", R"(func.func @f(%a: tensor<3x2x5xf32>, %i: tensor<70xi64>, %u: tensor<3x70x5xf32>) -> tensor<3x2x5xf32> {
    %0 = prim.scatter %a, %i, %u {axis = 1 : i64, kind = #prim<scatter_kind add>} : (tensor<3x2x5xf32>, tensor<70xi64>, tensor<3x70x5xf32>) -> tensor<3x2x5xf32>
    return %0 : tensor<3x2x5xf32> })", 2, 1e-5},
  {"scatter_add_few_scalars", R"(func.func @f(%a: tensor<3xi32>, %i: tensor<2000xi64>, %u: tensor<2000xi32>) -> tensor<3xi32> {
    %0 = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<3xi32>, tensor<2000xi64>, tensor<2000xi32>) -> tensor<3xi32>
    return %0 : tensor<3xi32> })", 3},
  {"scatter_add_of_middle", R"(func.func @f(%a: tensor<3x7x5xf32>, %i: tensor<40xi64>, %u: tensor<3x40x5xf32>) -> tensor<3x7x5xf32> {
    %0 = prim.scatter %a, %i, %u {axis = 1 : i64, kind = #prim<scatter_kind add>} : (tensor<3x7x5xf32>, tensor<40xi64>, tensor<3x40x5xf32>) -> tensor<3x7x5xf32>
    return %0 : tensor<3x7x5xf32> })", 7, 1e-5},
  {"scatter_set_many", R"(func.func @f(%a: tensor<7xf32>, %i: tensor<100xi64>, %u: tensor<100xf32>) -> tensor<7xf32> {
    %0 = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind set>} : (tensor<7xf32>, tensor<100xi64>, tensor<100xf32>) -> tensor<7xf32>
    return %0 : tensor<7xf32> })", 7},
  {"scatter_add_scalars", R"(func.func @f(%a: tensor<2x7xf32>, %i: tensor<10x10xi64>, %u: tensor<2x10x10xf32>) -> tensor<2x7xf32> {
    %0 = prim.scatter %a, %i, %u {axis = 1 : i64, kind = #prim<scatter_kind add>} : (tensor<2x7xf32>, tensor<10x10xi64>, tensor<2x10x10xf32>) -> tensor<2x7xf32>
    return %0 : tensor<2x7xf32> })", 7, 1e-5},
  {"scatter_max_gradient", R"(func.func @f(%a: tensor<7x24xf32>, %i: tensor<15xi64>, %u: tensor<15x24xf32>) -> tensor<7x24xf32> {
    %0 = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind max>} : (tensor<7x24xf32>, tensor<15xi64>, tensor<15x24xf32>) -> tensor<7x24xf32>
    return %0 : tensor<7x24xf32> })", 7, 2e-6, true, true},
  {"scatter_mul_gradient", R"(func.func @f(%a: tensor<7x24xf32>, %i: tensor<15xi64>, %u: tensor<15x24xf32>) -> tensor<7x24xf32> {
    %0 = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind mul>} : (tensor<7x24xf32>, tensor<15xi64>, tensor<15x24xf32>) -> tensor<7x24xf32>
    return %0 : tensor<7x24xf32> })", 7, 2e-6, true, true},
  {"reduce_rows", R"(func.func @f(%a: tensor<6x1000xf32>) -> tensor<6xf32> {
    %0 = prim.reduce sum %a {dimensions = array<i64: 1>} : (tensor<6x1000xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32> })"},
  {"reduce_columns", R"(func.func @f(%a: tensor<50x133xf32>) -> tensor<133xf32> {
    %0 = prim.reduce sum %a {dimensions = array<i64: 0>} : (tensor<50x133xf32>) -> tensor<133xf32>
    return %0 : tensor<133xf32> })"},
  {"reduce_channels", R"(func.func @f(%a: tensor<4x6x5x7xf32>) -> tensor<6xf32> {
    %0 = prim.reduce max %a {dimensions = array<i64: 0, 2, 3>} : (tensor<4x6x5x7xf32>) -> tensor<6xf32>
    return %0 : tensor<6xf32> })"},
  {"reduce_all", R"(func.func @f(%a: tensor<4x77xf32>) -> tensor<f32> {
    %0 = prim.reduce sum %a {dimensions = array<i64: 0, 1>} : (tensor<4x77xf32>) -> tensor<f32>
    return %0 : tensor<f32> })"},
  {"max_pool", R"(func.func @f(%a: tensor<2x3x11x11xf32>) -> tensor<2x3x5x5xf32> {
    %0 = prim.reduce_window max %a {window = array<i64: 1, 1, 3, 3>, strides = array<i64: 1, 1, 2, 2>, dilations = array<i64: 1, 1, 1, 1>, pad_low = array<i64: 0, 0, 0, 0>, pad_high = array<i64: 0, 0, 0, 0>} : (tensor<2x3x11x11xf32>) -> tensor<2x3x5x5xf32>
    return %0 : tensor<2x3x5x5xf32> })"},
  {"sum_pool_padded", R"(func.func @f(%a: tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32> {
    %0 = prim.reduce_window sum %a {window = array<i64: 1, 1, 3, 3>, strides = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1, 1>, pad_low = array<i64: 0, 0, 1, 1>, pad_high = array<i64: 0, 0, 1, 1>} : (tensor<2x3x8x8xf32>) -> tensor<2x3x8x8xf32>
    return %0 : tensor<2x3x8x8xf32> })"},
  {"window_scatter", R"(func.func @f(%n: tensor<2x3x4x4xi8>, %s: tensor<2x3x4x4xf32>) -> tensor<2x3x8x8xf32> {
    %m = prim.constant dense<15> : tensor<2x3x4x4xi8>
    %k = prim.and %n, %m : (tensor<2x3x4x4xi8>, tensor<2x3x4x4xi8>) -> tensor<2x3x4x4xi8>
    %0 = prim.window_scatter %k, %s {extents = array<i64: 2, 3, 8, 8>, window = array<i64: 1, 1, 3, 3>, strides = array<i64: 1, 1, 2, 2>, dilations = array<i64: 1, 1, 1, 1>, pad_low = array<i64: 0, 0, 1, 1>, pad_high = array<i64: 0, 0, 1, 1>} : (tensor<2x3x4x4xi8>, tensor<2x3x4x4xf32>) -> tensor<2x3x8x8xf32>
    return %0 : tensor<2x3x8x8xf32> })"},
  {"window_scatter_overlapping", R"(func.func @f(%n: tensor<2x9x9xi8>, %s: tensor<2x9x9xf32>) -> tensor<2x9x9xf32> {
    %m = prim.constant dense<31> : tensor<2x9x9xi8>
    %k = prim.and %n, %m : (tensor<2x9x9xi8>, tensor<2x9x9xi8>) -> tensor<2x9x9xi8>
    %0 = prim.window_scatter %k, %s {extents = array<i64: 2, 9, 9>, window = array<i64: 1, 5, 5>, strides = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, pad_low = array<i64: 0, 2, 2>, pad_high = array<i64: 0, 2, 2>} : (tensor<2x9x9xi8>, tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
    return %0 : tensor<2x9x9xf32> })"},
  {"arg_window_large", R"(func.func @f(%a: tensor<2x9x40xf32>) -> tensor<2x5x42xi8> {
    %0 = prim.arg_window %a {window = array<i64: 1, 7, 10>, strides = array<i64: 1, 2, 1>, dilations = array<i64: 1, 1, 2>, pad_low = array<i64: 0, 3, 20>, pad_high = array<i64: 0, 3, 0>} : (tensor<2x9x40xf32>) -> tensor<2x5x42xi8>
    return %0 : tensor<2x5x42xi8> })"},
  {"window_scatter_far_apart", R"(func.func @f(%n: tensor<2x3x3xi8>, %s: tensor<2x3x3xf32>) -> tensor<2x20x20xf32> {
    %m = prim.constant dense<3> : tensor<2x3x3xi8>
    %k = prim.and %n, %m : (tensor<2x3x3xi8>, tensor<2x3x3xi8>) -> tensor<2x3x3xi8>
    %0 = prim.window_scatter %k, %s {extents = array<i64: 2, 20, 20>, window = array<i64: 1, 2, 2>, strides = array<i64: 1, 9, 9>, dilations = array<i64: 1, 1, 1>, pad_low = array<i64: 0, 0, 0>, pad_high = array<i64: 0, 0, 0>} : (tensor<2x3x3xi8>, tensor<2x3x3xf32>) -> tensor<2x20x20xf32>
    return %0 : tensor<2x20x20xf32> })"},
  {"window_scatter_units", R"(func.func @f(%n: tensor<4x1xi8>, %s: tensor<4x1xf32>) -> tensor<4x1xf32> {
    %m = prim.constant dense<1> : tensor<4x1xi8>
    %k = prim.and %n, %m : (tensor<4x1xi8>, tensor<4x1xi8>) -> tensor<4x1xi8>
    %0 = prim.window_scatter %k, %s {extents = array<i64: 4, 1>, window = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>} : (tensor<4x1xi8>, tensor<4x1xf32>) -> tensor<4x1xf32>
    return %0 : tensor<4x1xf32> })"},
  {"window_scatter_columns", R"(func.func @f(%n: tensor<2x4x5x21xi8>, %s: tensor<2x4x5x21xf32>) -> tensor<2x8x9x21xf32> {
    %m = prim.constant dense<15> : tensor<2x4x5x21xi8>
    %k = prim.and %n, %m : (tensor<2x4x5x21xi8>, tensor<2x4x5x21xi8>) -> tensor<2x4x5x21xi8>
    %0 = prim.window_scatter %k, %s {extents = array<i64: 2, 8, 9, 21>, window = array<i64: 1, 3, 3, 1>, strides = array<i64: 1, 2, 2, 1>, dilations = array<i64: 1, 1, 1, 1>, pad_low = array<i64: 0, 1, 1, 0>, pad_high = array<i64: 0, 1, 1, 0>} : (tensor<2x4x5x21xi8>, tensor<2x4x5x21xf32>) -> tensor<2x8x9x21xf32>
    return %0 : tensor<2x8x9x21xf32> })"},
  {"window_scatter_columns_apart", R"(func.func @f(%n: tensor<3x3x40xi8>, %s: tensor<3x3x40xf32>) -> tensor<7x3x40xf32> {
    %m = prim.constant dense<1> : tensor<3x3x40xi8>
    %k = prim.and %n, %m : (tensor<3x3x40xi8>, tensor<3x3x40xi8>) -> tensor<3x3x40xi8>
    %0 = prim.window_scatter %k, %s {extents = array<i64: 7, 3, 40>, window = array<i64: 2, 1, 1>, strides = array<i64: 2, 1, 1>, dilations = array<i64: 2, 1, 1>, pad_low = array<i64: 0, 0, 0>, pad_high = array<i64: 0, 0, 0>} : (tensor<3x3x40xi8>, tensor<3x3x40xf32>) -> tensor<7x3x40xf32>
    return %0 : tensor<7x3x40xf32> })"},
  {"neighbours_backwards", R"(func.func @f(%a: tensor<3x40xf32>, %b: tensor<3x80xf32>) -> tensor<3x80xf32> {
    %0 = prim.broadcast %a {dimensions = array<i64: 0, 1>} : (tensor<3x40xf32>) -> tensor<3x40x2xf32>
    %1 = prim.reshape %0 : (tensor<3x40x2xf32>) -> tensor<3x80xf32>
    %2 = prim.reverse %1 {dimensions = array<i64: 1>} : (tensor<3x80xf32>) -> tensor<3x80xf32>
    %3 = prim.mul %2, %b : (tensor<3x80xf32>, tensor<3x80xf32>) -> tensor<3x80xf32>
    return %3 : tensor<3x80xf32> })"},
  {"arg_window_columns", R"(func.func @f(%a: tensor<2x8x9x21xf32>) -> tensor<2x4x5x21xi8> {
    %0 = prim.arg_window %a {window = array<i64: 1, 3, 3, 1>, strides = array<i64: 1, 2, 2, 1>, dilations = array<i64: 1, 1, 1, 1>, pad_low = array<i64: 0, 1, 1, 0>, pad_high = array<i64: 0, 1, 1, 0>} : (tensor<2x8x9x21xf32>) -> tensor<2x4x5x21xi8>
    return %0 : tensor<2x4x5x21xi8> })"},
  {"arg_reduce", R"(func.func @f(%a: tensor<5x30xf32>) -> tensor<5xi64> {
    %0 = prim.arg_reduce max %a {dimension = 1 : i64} : (tensor<5x30xf32>) -> tensor<5xi64>
    return %0 : tensor<5xi64> })"},
  {"arg_reduce_of_equals", R"(func.func @f(%a: tensor<3x2000xi32>, %b: tensor<3x500x7xi32>, %c: tensor<40000xi32>) -> (tensor<3xi64>, tensor<3x7xi64>, tensor<i64>) {
    %0 = prim.arg_reduce max %a {dimension = 1 : i64} : (tensor<3x2000xi32>) -> tensor<3xi64>
    %1 = prim.arg_reduce min %b {dimension = 1 : i64} : (tensor<3x500x7xi32>) -> tensor<3x7xi64>
    %2 = prim.arg_reduce max %c {dimension = 0 : i64} : (tensor<40000xi32>) -> tensor<i64>
    return %0, %1, %2 : tensor<3xi64>, tensor<3x7xi64>, tensor<i64> })", 50},
  {"cumulative_of_rows", R"(func.func @f(%a: tensor<3x100x1xf32>, %b: tensor<3x64xi32>) -> (tensor<3x100x1xf32>, tensor<3x64xi32>) {
    %0 = prim.cumulative min %a {dimension = 1 : i64} : (tensor<3x100x1xf32>) -> tensor<3x100x1xf32>
    %1 = prim.cumulative sum %b {dimension = 1 : i64} : (tensor<3x64xi32>) -> tensor<3x64xi32>
    return %0, %1 : tensor<3x100x1xf32>, tensor<3x64xi32> })", 50},
  {"cumulative", R"(func.func @f(%a: tensor<5x30xf32>) -> tensor<5x30xf32> {
    %0 = prim.cumulative sum %a {dimension = 1 : i64} : (tensor<5x30xf32>) -> tensor<5x30xf32>
    return %0 : tensor<5x30xf32> })"},
  {"cumulative_prod_gradient", R"(func.func @f(%a: tensor<5x7x30xf32>) -> tensor<5x7x30xf32> {
    %0 = prim.cumulative prod %a {dimension = 1 : i64} : (tensor<5x7x30xf32>) -> tensor<5x7x30xf32>
    return %0 : tensor<5x7x30xf32> })", 3, 2e-5, true, true},
  {"cumulative_max_gradient", R"(func.func @f(%a: tensor<5x30xf32>) -> tensor<5x30xf32> {
    %0 = prim.cumulative max %a {dimension = 1 : i64} : (tensor<5x30xf32>) -> tensor<5x30xf32>
    return %0 : tensor<5x30xf32> })", 3, 2e-6, true, true},
  {"sort", R"(func.func @f(%a: tensor<5x30xf32>, %b: tensor<7x20x3xi32>) -> (tensor<5x30xf32>, tensor<5x30xi64>, tensor<7x20x3xi64>) {
    %0, %1 = prim.sort %a {dimension = 1 : i64, descending = true} : (tensor<5x30xf32>) -> (tensor<5x30xf32>, tensor<5x30xi64>)
    %2, %3 = prim.sort %b {dimension = 1 : i64, descending = false} : (tensor<7x20x3xi32>) -> (tensor<7x20x3xi32>, tensor<7x20x3xi64>)
    return %0, %1, %3 : tensor<5x30xf32>, tensor<5x30xi64>, tensor<7x20x3xi64> })", 5},
  {"sort_of_columns", R"(func.func @f(%a: tensor<200x3xf32>, %b: tensor<65x3xi32>, %c: tensor<2x1000xi32>) -> (tensor<200x3xi64>, tensor<65x3xi32>, tensor<2x1000xi32>, tensor<2x1000xi64>) {
    %0, %1 = prim.sort %a {dimension = 0 : i64, descending = false} : (tensor<200x3xf32>) -> (tensor<200x3xf32>, tensor<200x3xi64>)
    %2, %3 = prim.sort %b {dimension = 0 : i64, descending = true} : (tensor<65x3xi32>) -> (tensor<65x3xi32>, tensor<65x3xi64>)
    %4, %5 = prim.sort %c {dimension = 1 : i64, descending = false} : (tensor<2x1000xi32>) -> (tensor<2x1000xi32>, tensor<2x1000xi64>)
    return %1, %2, %4, %5 : tensor<200x3xi64>, tensor<65x3xi32>, tensor<2x1000xi32>, tensor<2x1000xi64> })", 30},
  {"sort_of_equals", R"(func.func @f(%a: tensor<2x300xi32>) -> (tensor<2x300xi32>, tensor<2x300xi64>) {
    %0, %1 = prim.sort %a {dimension = 1 : i64, descending = true} : (tensor<2x300xi32>) -> (tensor<2x300xi32>, tensor<2x300xi64>)
    return %0, %1 : tensor<2x300xi32>, tensor<2x300xi64> })", 5},
  // Whichever of three it chooses, a quicksort's pivot is the second least or so of these.
  {"sort_of_bad_pivots", R"(func.func @f(%a: tensor<1xi32>) -> (tensor<150xi32>, tensor<150xi64>) {
    %c = prim.constant dense<[2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 39, 40, 41, 42,
        43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64,
        65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86,
        87, 88, 89, 90, 91, 92, 93, 94, 0, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105,
        106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 35, 31,
        27, 23, 19, 15, 11, 7, 3, 1, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132,
        133, 134, 135, 136, 137, 138, 139, 140, 37, 141, 33, 142, 29, 143, 25, 144, 21, 145,
        17, 146, 13, 147, 9, 148, 5, 149]> : tensor<150xi32>
    %z = prim.broadcast %a {dimensions = array<i64: 0>} : (tensor<1xi32>) -> tensor<150xi32>
    %s = prim.add %c, %z : (tensor<150xi32>, tensor<150xi32>) -> tensor<150xi32>
    %0, %1 = prim.sort %s {dimension = 0 : i64, descending = false} : (tensor<150xi32>) -> (tensor<150xi32>, tensor<150xi64>)
    return %0, %1 : tensor<150xi32>, tensor<150xi64> })", 5},
  {"sort_of_long_rows", R"(func.func @f(%a: tensor<3x129xf32>, %b: tensor<1x1500xf32>, %c: tensor<2x100xui8>, %d: tensor<2x70xbf16>) -> (tensor<3x129xf32>, tensor<1x1500xf32>, tensor<1x1500xi64>, tensor<2x100xi64>, tensor<2x70xbf16>) {
    %0, %1 = prim.sort %a {dimension = 1 : i64, descending = true} : (tensor<3x129xf32>) -> (tensor<3x129xf32>, tensor<3x129xi64>)
    %2 = prim.log %b : (tensor<1x1500xf32>) -> tensor<1x1500xf32>
    %3, %4 = prim.sort %2 {dimension = 1 : i64, descending = false} : (tensor<1x1500xf32>) -> (tensor<1x1500xf32>, tensor<1x1500xi64>)
    %6, %7 = prim.sort %c {dimension = 1 : i64, descending = true} : (tensor<2x100xui8>) -> (tensor<2x100xui8>, tensor<2x100xi64>)
    %8, %9 = prim.sort %d {dimension = 1 : i64, descending = false} : (tensor<2x70xbf16>) -> (tensor<2x70xbf16>, tensor<2x70xi64>)
    return %0, %3, %4, %7, %8 : tensor<3x129xf32>, tensor<1x1500xf32>, tensor<1x1500xi64>, tensor<2x100xi64>, tensor<2x70xbf16> })"},
  {"compare_select", R"(func.func @f(%a: tensor<45xf32>, %b: tensor<45xf32>) -> (tensor<45xi1>, tensor<45xf32>) {
    %0 = prim.compare lt %a, %b : (tensor<45xf32>, tensor<45xf32>) -> tensor<45xi1>
    %1 = prim.select %0, %a, %b : (tensor<45xi1>, tensor<45xf32>, tensor<45xf32>) -> tensor<45xf32>
    return %0, %1 : tensor<45xi1>, tensor<45xf32> })"},
  {"iota_convert", R"(func.func @f() -> tensor<3x21xf32> {
    %0 = prim.iota {dimension = 1 : i64} : () -> tensor<3x21xi64>
    %1 = prim.convert %0 : (tensor<3x21xi64>) -> tensor<3x21xf32>
    return %1 : tensor<3x21xf32> })"},
  {"random_bits", R"(func.func @f(%k: tensor<2xi64>) -> tensor<3x21xui32> {
    %0 = prim.random_bits %k {stream = 5 : i64} : (tensor<2xi64>) -> tensor<3x21xui32>
    return %0 : tensor<3x21xui32> })", 1000, 0},
  {"random_bits_of_rows", R"(func.func @f(%k: tensor<2xi64>) -> (tensor<9x87xf32>, tensor<9xf32>) {
    %0 = prim.random_bits %k {stream = 5 : i64} : (tensor<2xi64>) -> tensor<9x87xui32>
    %1 = prim.convert %0 : (tensor<9x87xui32>) -> tensor<9x87xf32>
    %2 = prim.reduce max %1 {dimensions = array<i64: 1>} : (tensor<9x87xf32>) -> tensor<9xf32>
    %3 = prim.broadcast %2 {dimensions = array<i64: 0>} : (tensor<9xf32>) -> tensor<9x87xf32>
    %4 = prim.div %1, %3 : (tensor<9x87xf32>, tensor<9x87xf32>) -> tensor<9x87xf32>
    return %4, %2 : tensor<9x87xf32>, tensor<9xf32> })", 1000},
  {"random_bits_of_columns", R"(func.func @f(%k: tensor<2xi64>) -> tensor<87xf32> {
    %0 = prim.random_bits %k {stream = 5 : i64} : (tensor<2xi64>) -> tensor<9x87xui32>
    %1 = prim.convert %0 : (tensor<9x87xui32>) -> tensor<9x87xf32>
    %2 = prim.reduce sum %1 {dimensions = array<i64: 0>} : (tensor<9x87xf32>) -> tensor<87xf32>
    return %2 : tensor<87xf32> })", 1000},
  {"random_bits_of_seed_and_step", R"(func.func @f(%s: tensor<i64>, %t: tensor<i64>) -> tensor<9x40xui32> {
    %0 = prim.reshape %s : (tensor<i64>) -> tensor<1xi64>
    %1 = prim.reshape %t : (tensor<i64>) -> tensor<1xi64>
    %k = prim.concatenate %0, %1 {dimension = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %2 = prim.random_bits %k {stream = 5 : i64} : (tensor<2xi64>) -> tensor<9x40xui32>
    return %2 : tensor<9x40xui32> })", 1000, 0},
  {"random_bits_in_views", R"(func.func @f(%k: tensor<2xi64>) -> (tensor<40x24xui32>, tensor<9x39xui32>, tensor<24x13xui32>, tensor<26x42xui32>) {
    %0 = prim.random_bits %k {stream = -3 : i64} : (tensor<2xi64>) -> tensor<24x40xui32>
    %1 = prim.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<24x40xui32>) -> tensor<40x24xui32>
    %2 = prim.slice %0 {starts = array<i64: 2, 1>, limits = array<i64: 11, 40>, strides = array<i64: 1, 1>} : (tensor<24x40xui32>) -> tensor<9x39xui32>
    %3 = prim.slice %0 {starts = array<i64: 0, 2>, limits = array<i64: 24, 40>, strides = array<i64: 1, 3>} : (tensor<24x40xui32>) -> tensor<24x13xui32>
    %z = prim.constant dense<7> : tensor<ui32>
    %4 = prim.pad %0, %z {low = array<i64: 1, 1>, high = array<i64: 1, 1>, interior = array<i64: 0, 0>} : (tensor<24x40xui32>, tensor<ui32>) -> tensor<26x42xui32>
    return %1, %2, %3, %4 : tensor<40x24xui32>, tensor<9x39xui32>, tensor<24x13xui32>, tensor<26x42xui32> })", 1000, 0},
  {"dot", R"(func.func @f(%a: tensor<7x12xf32>, %b: tensor<12x5xf32>) -> tensor<7x5xf32> {
    %0 = prim.dot_general %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<7x12xf32>, tensor<12x5xf32>) -> tensor<7x5xf32>
    return %0 : tensor<7x5xf32> })"},
  {"dot_batched", R"(func.func @f(%a: tensor<3x4x7x12xf32>, %b: tensor<3x4x5x12xf32>) -> tensor<3x4x7x5xf32> {
    %0 = prim.dot_general %a, %b {lhs_batch = array<i64: 0, 1>, rhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 3>, rhs_contracting = array<i64: 3>} : (tensor<3x4x7x12xf32>, tensor<3x4x5x12xf32>) -> tensor<3x4x7x5xf32>
    return %0 : tensor<3x4x7x5xf32> })"},
  {"convolution", R"(func.func @f(%a: tensor<2x4x9x9xf32>, %b: tensor<6x4x3x3xf32>) -> tensor<2x6x5x5xf32> {
    %0 = prim.convolution %a, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x4x9x9xf32>, tensor<6x4x3x3xf32>) -> tensor<2x6x5x5xf32>
    return %0 : tensor<2x6x5x5xf32> })"},
  {"elementary", R"(func.func @f(%a: tensor<999xf32>) -> (tensor<999xf32>, tensor<999xf32>, tensor<999xf32>, tensor<999xf32>) {
    %0 = prim.exp %a : (tensor<999xf32>) -> tensor<999xf32>
    %1 = prim.tanh %a : (tensor<999xf32>) -> tensor<999xf32>
    %2 = prim.erf %a : (tensor<999xf32>) -> tensor<999xf32>
    %3 = prim.logistic %a : (tensor<999xf32>) -> tensor<999xf32>
    return %0, %1, %2, %3 : tensor<999xf32>, tensor<999xf32>, tensor<999xf32>, tensor<999xf32> })"},
  {"rem", R"(func.func @f(%a: tensor<999xf32>, %b: tensor<999xf32>) -> tensor<999xf32> {
    %0 = prim.rem %a, %b : (tensor<999xf32>, tensor<999xf32>) -> tensor<999xf32>
    return %0 : tensor<999xf32> })"},
  {"bf16", R"(func.func @f(%a: tensor<9x77xbf16>, %b: tensor<77xbf16>) -> (tensor<9x77xbf16>, tensor<9xbf16>) {
    %0 = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<77xbf16>) -> tensor<9x77xbf16>
    %1 = prim.mul %a, %0 : (tensor<9x77xbf16>, tensor<9x77xbf16>) -> tensor<9x77xbf16>
    %2 = prim.tanh %1 : (tensor<9x77xbf16>) -> tensor<9x77xbf16>
    %3 = prim.reduce sum %2 {dimensions = array<i64: 1>} : (tensor<9x77xbf16>) -> tensor<9xbf16>
    return %2, %3 : tensor<9x77xbf16>, tensor<9xbf16> })", 3, 4e-3, false, true},
  {"f16", R"(func.func @f(%a: tensor<9x77xf16>, %b: tensor<77xf16>) -> (tensor<9x77xf16>, tensor<9xf16>) {
    %0 = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<77xf16>) -> tensor<9x77xf16>
    %1 = prim.mul %a, %0 : (tensor<9x77xf16>, tensor<9x77xf16>) -> tensor<9x77xf16>
    %2 = prim.tanh %1 : (tensor<9x77xf16>) -> tensor<9x77xf16>
    %3 = prim.reduce sum %2 {dimensions = array<i64: 1>} : (tensor<9x77xf16>) -> tensor<9xf16>
    return %2, %3 : tensor<9x77xf16>, tensor<9xf16> })", 3, 5e-4, false, true},
  {"softmax", R"(func.func @f(%a: tensor<9x77xf32>) -> tensor<9x77xf32> {
    %m = prim.reduce max %a {dimensions = array<i64: 1>} : (tensor<9x77xf32>) -> tensor<9xf32>
    %mb = prim.broadcast %m {dimensions = array<i64: 0>} : (tensor<9xf32>) -> tensor<9x77xf32>
    %s = prim.sub %a, %mb : (tensor<9x77xf32>, tensor<9x77xf32>) -> tensor<9x77xf32>
    %e = prim.exp %s : (tensor<9x77xf32>) -> tensor<9x77xf32>
    %t = prim.reduce sum %e {dimensions = array<i64: 1>} : (tensor<9x77xf32>) -> tensor<9xf32>
    %tb = prim.broadcast %t {dimensions = array<i64: 0>} : (tensor<9xf32>) -> tensor<9x77xf32>
    %r = prim.div %e, %tb : (tensor<9x77xf32>, tensor<9x77xf32>) -> tensor<9x77xf32>
    return %r : tensor<9x77xf32> })"},
};
// clang-format on

TEST_CASE("an index out of range is a data error and nothing is read") {
  KernelCase test = {
      "gather", R"(func.func @f(%a: tensor<4x24xf32>, %i: tensor<64xi64>) -> tensor<64x24xf32> {
    %0 = prim.gather %a, %i {axis = 0 : i64} : (tensor<4x24xf32>, tensor<64xi64>) -> tensor<64x24xf32>
    return %0 : tensor<64x24xf32> })",
      1000000};
  KernelCase ones = {"gather_of_one_number", R"(func.func @f(%i: tensor<64xi64>) -> tensor<64xf32> {
    %w = prim.constant dense<1.0> : tensor<10xf32>
    %0 = prim.gather %w, %i {axis = 0 : i64} : (tensor<10xf32>, tensor<64xi64>) -> tensor<64xf32>
    return %0 : tensor<64xf32> })",
                     1000000};
  for (const KernelCase &each : {test, ones}) {
    accc::test::KernelOutcome outcome =
        accc::test::runKernelCase(each, "x86-64-v3", /*interpreted=*/false);
    INFO(outcome.error);
    CHECK(outcome.error.find("out of range") != std::string::npos);
  }
}

TEST_CASE("kernels compute what the interpreter computes") { accc::test::checkKernelCases(kCases); }
