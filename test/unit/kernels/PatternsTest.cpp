// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Patterns of real models, fused: their values, and in how many kernels they run.
#include "kernels/Harness.h"

#include "support/SizeThreshold.h"

#include <catch2/catch.hpp>

#include <cstring>

using accc::test::KernelCase;

namespace {
/// What each case does, and the most launches it may take; 0: any number.
struct PatternCase {
  const char *name;
  int launches;
  const char *text;
  bool gradient = false;
  int64_t integerBound = 3;
  double tolerance = 3e-6;
};
} // namespace

// clang-format off
#define LAYER_NORM R"(func.func @f(%x: tensor<6x5x48xf32>, %s: tensor<48xf32>, %b: tensor<48xf32>) -> tensor<6x5x48xf32> {
    %r = nn.layer_norm %x scale %s bias %b {axis = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<6x5x48xf32>, tensor<48xf32>, tensor<48xf32>) -> tensor<6x5x48xf32>
    return %r : tensor<6x5x48xf32> })"
#define RMS_NORM R"(func.func @f(%x: tensor<6x77xf32>, %s: tensor<77xf32>) -> tensor<6x77xf32> {
    %r = nn.rms_norm %x scale %s {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<6x77xf32>, tensor<77xf32>) -> tensor<6x77xf32>
    return %r : tensor<6x77xf32> })"
#define BATCH_NORM R"(func.func @f(%x: tensor<4x6x5x7xf32>, %s: tensor<6xf32>, %b: tensor<6xf32>, %m: tensor<6xf32>, %v: tensor<6xf32>) -> (tensor<4x6x5x7xf32>, tensor<6xf32>, tensor<6xf32>) {
    %r:3 = nn.batch_norm_training %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64, unbiased = true} : (tensor<4x6x5x7xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6x5x7xf32>, tensor<6xf32>, tensor<6xf32>)
    return %r#0, %r#1, %r#2 : tensor<4x6x5x7xf32>, tensor<6xf32>, tensor<6xf32> })"
// The statistics are outputs of the forward pass, as in a training step.
#define BATCH_NORM_BACKWARD R"(func.func @f(%x: tensor<4x6x5x7xf32>, %dy: tensor<4x6x5x7xf32>, %mean: tensor<6xf32>, %rstd: tensor<6xf32>, %scale: tensor<6xf32>) -> (tensor<4x6x5x7xf32>, tensor<6xf32>, tensor<6xf32>) {
    %mb = prim.broadcast %mean {dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<4x6x5x7xf32>
    %rb = prim.broadcast %rstd {dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<4x6x5x7xf32>
    %c = prim.sub %x, %mb : (tensor<4x6x5x7xf32>, tensor<4x6x5x7xf32>) -> tensor<4x6x5x7xf32>
    %xhat = prim.mul %c, %rb : (tensor<4x6x5x7xf32>, tensor<4x6x5x7xf32>) -> tensor<4x6x5x7xf32>
    %p = prim.mul %dy, %xhat : (tensor<4x6x5x7xf32>, tensor<4x6x5x7xf32>) -> tensor<4x6x5x7xf32>
    %dbias = prim.reduce sum %dy {dimensions = array<i64: 0, 2, 3>} : (tensor<4x6x5x7xf32>) -> tensor<6xf32>
    %dscale = prim.reduce sum %p {dimensions = array<i64: 0, 2, 3>} : (tensor<4x6x5x7xf32>) -> tensor<6xf32>
    %n = prim.constant dense<7.142857e-03> : tensor<6xf32>
    %db = prim.mul %dbias, %n : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %ds = prim.mul %dscale, %n : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %dbb = prim.broadcast %db {dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<4x6x5x7xf32>
    %dsb = prim.broadcast %ds {dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<4x6x5x7xf32>
    %q = prim.mul %xhat, %dsb : (tensor<4x6x5x7xf32>, tensor<4x6x5x7xf32>) -> tensor<4x6x5x7xf32>
    %i0 = prim.sub %dy, %dbb : (tensor<4x6x5x7xf32>, tensor<4x6x5x7xf32>) -> tensor<4x6x5x7xf32>
    %i1 = prim.sub %i0, %q : (tensor<4x6x5x7xf32>, tensor<4x6x5x7xf32>) -> tensor<4x6x5x7xf32>
    %f = prim.mul %scale, %rstd : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %fb = prim.broadcast %f {dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<4x6x5x7xf32>
    %dx = prim.mul %fb, %i1 : (tensor<4x6x5x7xf32>, tensor<4x6x5x7xf32>) -> tensor<4x6x5x7xf32>
    return %dx, %dscale, %dbias : tensor<4x6x5x7xf32>, tensor<6xf32>, tensor<6xf32> })"
#define SOFTMAX R"(func.func @f(%x: tensor<3x9x77xf32>) -> tensor<3x9x77xf32> {
    %r = nn.softmax %x {dimension = 2 : i64} : (tensor<3x9x77xf32>) -> tensor<3x9x77xf32>
    return %r : tensor<3x9x77xf32> })"
#define SOFTMAX_CHANNELS R"(func.func @f(%x: tensor<3x9x20xf32>) -> tensor<3x9x20xf32> {
    %r = nn.softmax %x {dimension = 1 : i64} : (tensor<3x9x20xf32>) -> tensor<3x9x20xf32>
    return %r : tensor<3x9x20xf32> })"
#define MASKED_SOFTMAX R"(func.func @f(%x: tensor<2x3x8x20xf32>, %mask: tensor<2x20xi1>) -> tensor<2x3x8x20xf32> {
    %zero = prim.constant dense<0.0> : tensor<2x20xf32>
    %low = prim.constant dense<-3.0e+38> : tensor<2x20xf32>
    %scale = prim.constant dense<0.125> : tensor<2x3x8x20xf32>
    %bias = prim.select %mask, %zero, %low : (tensor<2x20xi1>, tensor<2x20xf32>, tensor<2x20xf32>) -> tensor<2x20xf32>
    %b = prim.broadcast %bias {dimensions = array<i64: 0, 3>} : (tensor<2x20xf32>) -> tensor<2x3x8x20xf32>
    %y = prim.mul %x, %scale : (tensor<2x3x8x20xf32>, tensor<2x3x8x20xf32>) -> tensor<2x3x8x20xf32>
    %z = prim.add %y, %b : (tensor<2x3x8x20xf32>, tensor<2x3x8x20xf32>) -> tensor<2x3x8x20xf32>
    %r = nn.softmax %z {dimension = 3 : i64} : (tensor<2x3x8x20xf32>) -> tensor<2x3x8x20xf32>
    return %r : tensor<2x3x8x20xf32> })"
#define CROSS_ENTROPY R"(func.func @f(%x: tensor<13x37xf32>, %t: tensor<13xi64>) -> tensor<f32> {
    %r = nn.cross_entropy %x, %t {ignore_index = 2 : i64, label_smoothing = 0.0 : f64, reduction = #nn<reduction mean>} : (tensor<13x37xf32>, tensor<13xi64>) -> tensor<f32>
    return %r : tensor<f32> })"
#define CROSS_ENTROPY_SMOOTH R"(func.func @f(%x: tensor<13x37xf32>, %t: tensor<13xi64>, %w: tensor<37xf32>) -> tensor<f32> {
    %a = prim.mul %w, %w : (tensor<37xf32>, tensor<37xf32>) -> tensor<37xf32>
    %r = nn.cross_entropy %x, %t weight %a {label_smoothing = 0.1 : f64, reduction = #nn<reduction mean>} : (tensor<13x37xf32>, tensor<13xi64>, tensor<37xf32>) -> tensor<f32>
    return %r : tensor<f32> })"
#define BIAS_GELU(form) R"(func.func @f(%x: tensor<14x50xf32>, %b: tensor<50xf32>) -> tensor<14x50xf32> {
    %bb = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<50xf32>) -> tensor<14x50xf32>
    %y = prim.add %x, %bb : (tensor<14x50xf32>, tensor<14x50xf32>) -> tensor<14x50xf32>
    %r = nn.gelu %y {form = #nn<gelu_form )" form R"(>} : (tensor<14x50xf32>) -> tensor<14x50xf32>
    return %r : tensor<14x50xf32> })"
#define HEADS R"(func.func @f(%x: tensor<2x7x24xf32>, %b: tensor<24xf32>) -> tensor<2x3x7x8xf32> {
    %bb = prim.broadcast %b {dimensions = array<i64: 2>} : (tensor<24xf32>) -> tensor<2x7x24xf32>
    %y = prim.add %x, %bb : (tensor<2x7x24xf32>, tensor<2x7x24xf32>) -> tensor<2x7x24xf32>
    %h = prim.reshape %y : (tensor<2x7x24xf32>) -> tensor<2x7x3x8xf32>
    %r = prim.transpose %h {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x7x3x8xf32>) -> tensor<2x3x7x8xf32>
    return %r : tensor<2x3x7x8xf32> })"
#define RESIDUAL_NORM R"(func.func @f(%x: tensor<6x48xf32>, %y: tensor<6x48xf32>, %s: tensor<48xf32>) -> (tensor<6x48xf32>, tensor<6x48xf32>) {
    %a = prim.add %x, %y : (tensor<6x48xf32>, tensor<6x48xf32>) -> tensor<6x48xf32>
    %r = nn.layer_norm %a scale %s {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<6x48xf32>, tensor<48xf32>) -> tensor<6x48xf32>
    return %a, %r : tensor<6x48xf32>, tensor<6x48xf32> })"
#define DROPOUT R"(func.func @f(%x: tensor<11x24xf32>, %k: tensor<2xi64>) -> tensor<11x24xf32> {
    %y = nn.relu %x : (tensor<11x24xf32>) -> tensor<11x24xf32>
    %r = nn.dropout %y, %k {ratio = 0.25 : f64, stream = 3 : i64} : (tensor<11x24xf32>, tensor<2xi64>) -> tensor<11x24xf32>
    return %r : tensor<11x24xf32> })"
// A rotation of halves, as in rotary embedding.
#define ROTATE R"(func.func @f(%x: tensor<5x32xf32>, %c: tensor<5x32xf32>) -> tensor<5x32xf32> {
    %a = prim.slice %x {starts = array<i64: 0, 0>, limits = array<i64: 5, 16>, strides = array<i64: 1, 1>} : (tensor<5x32xf32>) -> tensor<5x16xf32>
    %b = prim.slice %x {starts = array<i64: 0, 16>, limits = array<i64: 5, 32>, strides = array<i64: 1, 1>} : (tensor<5x32xf32>) -> tensor<5x16xf32>
    %n = prim.neg %b : (tensor<5x16xf32>) -> tensor<5x16xf32>
    %r = prim.concatenate %n, %a {dimension = 1 : i64} : (tensor<5x16xf32>, tensor<5x16xf32>) -> tensor<5x32xf32>
    %p = prim.mul %x, %c : (tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<5x32xf32>
    %q = prim.mul %r, %c : (tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<5x32xf32>
    %s = prim.add %p, %q : (tensor<5x32xf32>, tensor<5x32xf32>) -> tensor<5x32xf32>
    return %s : tensor<5x32xf32> })"
// A cyclic shift, as of Swin's windows: two slices exchanged, between pointwise ops.
#define SHIFT R"(func.func @f(%x: tensor<2x8x8x20xf32>) -> tensor<2x8x8x20xf32> {
    %e = prim.exp %x : (tensor<2x8x8x20xf32>) -> tensor<2x8x8x20xf32>
    %a = prim.slice %e {starts = array<i64: 0, 3, 0, 0>, limits = array<i64: 2, 8, 8, 20>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x8x8x20xf32>) -> tensor<2x5x8x20xf32>
    %b = prim.slice %e {starts = array<i64: 0, 0, 0, 0>, limits = array<i64: 2, 3, 8, 20>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x8x8x20xf32>) -> tensor<2x3x8x20xf32>
    %c = prim.concatenate %a, %b {dimension = 1 : i64} : (tensor<2x5x8x20xf32>, tensor<2x3x8x20xf32>) -> tensor<2x8x8x20xf32>
    %w = prim.reshape %c : (tensor<2x8x8x20xf32>) -> tensor<2x2x4x2x4x20xf32>
    %r = prim.transpose %w {permutation = array<i64: 0, 1, 3, 2, 4, 5>} : (tensor<2x2x4x2x4x20xf32>) -> tensor<2x2x2x4x4x20xf32>
    %s = prim.reshape %r : (tensor<2x2x2x4x4x20xf32>) -> tensor<2x8x8x20xf32>
    %n = prim.neg %s : (tensor<2x8x8x20xf32>) -> tensor<2x8x8x20xf32>
    return %n : tensor<2x8x8x20xf32> })"

// Large enough for its weights to be packed.
#define LSTM R"(func.func @f(%x: tensor<6x3x16xf32>, %w: tensor<1x256x16xf32>, %r: tensor<1x256x64xf32>) -> tensor<6x1x3x64xf32> {
    %c = prim.constant dense<0.125> : tensor<1x256x64xf32>
    %s = prim.mul %r, %c : (tensor<1x256x64xf32>, tensor<1x256x64xf32>) -> tensor<1x256x64xf32>
    %y:3 = nn.lstm %x, %w, %s {direction = #nn<rnn_direction forward>, batch_first = false} : (tensor<6x3x16xf32>, tensor<1x256x16xf32>, tensor<1x256x64xf32>) -> (tensor<6x1x3x64xf32>, tensor<1x3x64xf32>, tensor<1x3x64xf32>)
    return %y#0 : tensor<6x1x3x64xf32> })"

static const PatternCase kPatterns[] = {
  {"layer norm", 1, LAYER_NORM}, {"layer norm, backward", 0, LAYER_NORM, true},
  {"rms norm", 1, RMS_NORM}, {"rms norm, backward", 0, RMS_NORM, true},
  {"batch norm", 1, BATCH_NORM}, {"batch norm, forward and backward", 0, BATCH_NORM, true},
  {"batch norm, backward", 1, BATCH_NORM_BACKWARD},
  {"softmax", 1, SOFTMAX}, {"softmax, backward", 1, SOFTMAX, true},
  {"softmax over channels", 1, SOFTMAX_CHANNELS}, {"softmax over channels, backward", 1, SOFTMAX_CHANNELS, true},
  {"masked softmax", 1, MASKED_SOFTMAX}, {"masked softmax, backward", 1, MASKED_SOFTMAX, true},
  {"cross entropy", 0, CROSS_ENTROPY, false, 37}, {"cross entropy, backward", 0, CROSS_ENTROPY, true, 37},
  {"cross entropy with smoothing", 0, CROSS_ENTROPY_SMOOTH, false, 37},
  {"cross entropy with smoothing, backward", 0, CROSS_ENTROPY_SMOOTH, true, 37},
  {"bias and gelu", 1, BIAS_GELU("erf")}, {"bias and gelu, backward", 0, BIAS_GELU("erf"), true},
  {"bias and tanh gelu", 1, BIAS_GELU("tanh")}, {"bias and tanh gelu, backward", 0, BIAS_GELU("tanh"), true},
  {"bias into heads", 1, HEADS}, {"bias into heads, backward", 0, HEADS, true},
  {"residual and layer norm", 1, RESIDUAL_NORM}, {"residual and layer norm, backward", 0, RESIDUAL_NORM, true},
  {"relu and dropout", 1, DROPOUT, false, 1000}, {"relu and dropout, backward", 1, DROPOUT, true, 1000},
  {"rotation", 1, ROTATE}, {"rotation, backward", 0, ROTATE, true},
  {"window shift", 0, SHIFT}, {"window shift, backward", 0, SHIFT, true},
  {"lstm", 0, LSTM}, {"lstm, backward", 0, LSTM, true},

  {"several results of several shapes", 0, R"(func.func @f(%a: tensor<6x70xf32>) -> (tensor<6x70xf32>, tensor<6xf32>, tensor<70xf32>, tensor<70x6xf32>, tensor<6x70xi1>) {
    %e = prim.tanh %a : (tensor<6x70xf32>) -> tensor<6x70xf32>
    %r = prim.reduce sum %e {dimensions = array<i64: 1>} : (tensor<6x70xf32>) -> tensor<6xf32>
    %c = prim.reduce max %e {dimensions = array<i64: 0>} : (tensor<6x70xf32>) -> tensor<70xf32>
    %t = prim.transpose %e {permutation = array<i64: 1, 0>} : (tensor<6x70xf32>) -> tensor<70x6xf32>
    %p = prim.compare gt %e, %a : (tensor<6x70xf32>, tensor<6x70xf32>) -> tensor<6x70xi1>
    return %e, %r, %c, %t, %p : tensor<6x70xf32>, tensor<6xf32>, tensor<70xf32>, tensor<70x6xf32>, tensor<6x70xi1> })"},
  {"a result that is read again", 0, R"(func.func @f(%a: tensor<9x33xf32>) -> (tensor<9x33xf32>, tensor<9x33xf32>, tensor<9x33xf32>) {
    %e = prim.exp %a : (tensor<9x33xf32>) -> tensor<9x33xf32>
    %s = prim.add %e, %a : (tensor<9x33xf32>, tensor<9x33xf32>) -> tensor<9x33xf32>
    return %e, %s, %e : tensor<9x33xf32>, tensor<9x33xf32>, tensor<9x33xf32> })"},
  {"an argument returned", 0, R"(func.func @f(%a: tensor<9xf32>, %b: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
    %s = prim.sub %a, %b : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
    return %b, %s : tensor<9xf32>, tensor<9xf32> })"},
  {"a constant returned", 0, R"(func.func @f(%a: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<4xf32>) {
    %c = prim.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %n = prim.neg %a : (tensor<4xf32>) -> tensor<4xf32>
    return %c, %n : tensor<2x2xf32>, tensor<4xf32> })"},
  {"pad between pointwise ops", 0, R"(func.func @f(%a: tensor<6x17xf32>, %b: tensor<8x33xf32>) -> tensor<8x33xf32> {
    %v = prim.constant dense<0.5> : tensor<f32>
    %e = prim.exp %a : (tensor<6x17xf32>) -> tensor<6x17xf32>
    %p = prim.pad %e, %v {low = array<i64: 2, 0>, high = array<i64: 0, 0>, interior = array<i64: 0, 1>} : (tensor<6x17xf32>, tensor<f32>) -> tensor<8x33xf32>
    %s = prim.mul %p, %b : (tensor<8x33xf32>, tensor<8x33xf32>) -> tensor<8x33xf32>
    return %s : tensor<8x33xf32> })"},
  {"sum of padded slices", 0, R"(func.func @f(%a: tensor<8x24xf32>) -> (tensor<8x24xf32>, tensor<24xf32>) {
    %v = prim.constant dense<0.0> : tensor<f32>
    %x = prim.slice %a {starts = array<i64: 0, 1>, limits = array<i64: 8, 24>, strides = array<i64: 2, 1>} : (tensor<8x24xf32>) -> tensor<4x23xf32>
    %m = prim.mul %x, %x : (tensor<4x23xf32>, tensor<4x23xf32>) -> tensor<4x23xf32>
    %p = prim.pad %m, %v {low = array<i64: 0, 1>, high = array<i64: 1, 0>, interior = array<i64: 1, 0>} : (tensor<4x23xf32>, tensor<f32>) -> tensor<8x24xf32>
    %s = prim.add %p, %a : (tensor<8x24xf32>, tensor<8x24xf32>) -> tensor<8x24xf32>
    %r = prim.reduce sum %s {dimensions = array<i64: 0>} : (tensor<8x24xf32>) -> tensor<24xf32>
    return %s, %r : tensor<8x24xf32>, tensor<24xf32> })"},
  {"reverse and gather into a reduction", 0, R"(func.func @f(%a: tensor<11x24xf32>, %i: tensor<5xi64>) -> tensor<5xf32> {
    %g = prim.gather %a, %i {axis = 0 : i64} : (tensor<11x24xf32>, tensor<5xi64>) -> tensor<5x24xf32>
    %r = prim.reverse %g {dimensions = array<i64: 1>} : (tensor<5x24xf32>) -> tensor<5x24xf32>
    %m = prim.mul %r, %g : (tensor<5x24xf32>, tensor<5x24xf32>) -> tensor<5x24xf32>
    %s = prim.reduce sum %m {dimensions = array<i64: 1>} : (tensor<5x24xf32>) -> tensor<5xf32>
    return %s : tensor<5xf32> })", false, 11},

  {"zero-size pointwise", 0, R"(func.func @f(%a: tensor<0x5xf32>, %b: tensor<3xf32>) -> (tensor<0x5xf32>, tensor<3xf32>) {
    %0 = prim.exp %a : (tensor<0x5xf32>) -> tensor<0x5xf32>
    %1 = prim.exp %b : (tensor<3xf32>) -> tensor<3xf32>
    return %0, %1 : tensor<0x5xf32>, tensor<3xf32> })"},
  {"zero-size reduced away", 0, R"(func.func @f(%a: tensor<4x0xf32>) -> (tensor<4xf32>, tensor<0xf32>, tensor<4xf32>) {
    %0 = prim.reduce sum %a {dimensions = array<i64: 1>} : (tensor<4x0xf32>) -> tensor<4xf32>
    %1 = prim.reduce sum %a {dimensions = array<i64: 0>} : (tensor<4x0xf32>) -> tensor<0xf32>
    %2 = prim.reduce prod %a {dimensions = array<i64: 1>} : (tensor<4x0xf32>) -> tensor<4xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<0xf32>, tensor<4xf32> })"},
  {"zero-size concatenated", 0, R"(func.func @f(%a: tensor<4x0xf32>, %b: tensor<4x5xf32>) -> tensor<4x5xf32> {
    %0 = prim.concatenate %a, %b {dimension = 1 : i64} : (tensor<4x0xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    %1 = prim.neg %0 : (tensor<4x5xf32>) -> tensor<4x5xf32>
    return %1 : tensor<4x5xf32> })"},
  {"zero-size padded", 0, R"(func.func @f(%a: tensor<4x0xf32>) -> tensor<4x3xf32> {
    %v = prim.constant dense<1.5> : tensor<f32>
    %0 = prim.pad %a, %v {low = array<i64: 0, 1>, high = array<i64: 0, 2>, interior = array<i64: 0, 0>} : (tensor<4x0xf32>, tensor<f32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32> })"},
  {"zero-size contraction", 0, R"(func.func @f(%a: tensor<4x0xf32>, %b: tensor<0x3xf32>) -> tensor<4x3xf32> {
    %0 = prim.dot_general %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<4x0xf32>, tensor<0x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32> })"},
  {"rank 0 throughout", 1, R"(func.func @f(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<i1>) {
    %0 = prim.pow %a, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %1 = prim.tanh %b : (tensor<f32>) -> tensor<f32>
    %2 = prim.max %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %3 = prim.compare lt %2, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %2, %3 : tensor<f32>, tensor<i1> })"},
  {"a window shift in two dimensions of what was normalised", 0, R"(func.func @f(%v: tensor<2x8x8xf32>, %x: tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xf32> {
    %q = prim.mul %v, %v : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
    %b = prim.broadcast %q {dimensions = array<i64: 0, 1, 2>} : (tensor<2x8x8xf32>) -> tensor<2x8x8x8xf32>
    %y = prim.mul %x, %b : (tensor<2x8x8x8xf32>, tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xf32>
    %0 = prim.slice %y {starts = array<i64: 0, 2, 0, 0>, limits = array<i64: 2, 8, 8, 8>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x8x8x8xf32>) -> tensor<2x6x8x8xf32>
    %1 = prim.slice %y {starts = array<i64: 0, 0, 0, 0>, limits = array<i64: 2, 2, 8, 8>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x8x8x8xf32>) -> tensor<2x2x8x8xf32>
    %2 = prim.concatenate %0, %1 {dimension = 1 : i64} : (tensor<2x6x8x8xf32>, tensor<2x2x8x8xf32>) -> tensor<2x8x8x8xf32>
    %3 = prim.slice %2 {starts = array<i64: 0, 0, 2, 0>, limits = array<i64: 2, 8, 8, 8>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x8x8x8xf32>) -> tensor<2x8x6x8xf32>
    %4 = prim.slice %2 {starts = array<i64: 0, 0, 0, 0>, limits = array<i64: 2, 8, 2, 8>, strides = array<i64: 1, 1, 1, 1>} : (tensor<2x8x8x8xf32>) -> tensor<2x8x2x8xf32>
    %5 = prim.concatenate %3, %4 {dimension = 2 : i64} : (tensor<2x8x6x8xf32>, tensor<2x8x2x8xf32>) -> tensor<2x8x8x8xf32>
    return %5 : tensor<2x8x8x8xf32> })"},
  {"halves of rows that were put together of two tensors", 0, R"(func.func @f(%x: tensor<2x2x16xf32>) -> tensor<2x16xf32> {
    %0 = prim.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x2x16xf32>) -> tensor<2x2x16xf32>
    %1 = prim.reshape %0 : (tensor<2x2x16xf32>) -> tensor<2x32xf32>
    %2 = prim.slice %1 {starts = array<i64: 0, 0>, limits = array<i64: 2, 16>, strides = array<i64: 1, 1>} : (tensor<2x32xf32>) -> tensor<2x16xf32>
    %3 = prim.slice %1 {starts = array<i64: 0, 16>, limits = array<i64: 2, 32>, strides = array<i64: 1, 1>} : (tensor<2x32xf32>) -> tensor<2x16xf32>
    %4 = prim.add %2, %3 : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
    return %4 : tensor<2x16xf32> })"},
  {"sums of columns weighted by functions of the rows", 0, R"(func.func @f(%v: tensor<50xf32>, %x: tensor<50x133xf32>) -> tensor<133xf32> {
    %0 = prim.mul %v, %v : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xf32>
    %1 = prim.add %0, %0 : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xf32>
    %2 = prim.exp %v : (tensor<50xf32>) -> tensor<50xf32>
    %3 = prim.add %1, %2 : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xf32>
    %4 = prim.sqrt %3 : (tensor<50xf32>) -> tensor<50xf32>
    %5 = prim.div %v, %4 : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xf32>
    %b = prim.broadcast %5 {dimensions = array<i64: 0>} : (tensor<50xf32>) -> tensor<50x133xf32>
    %y = prim.mul %x, %b : (tensor<50x133xf32>, tensor<50x133xf32>) -> tensor<50x133xf32>
    %s = prim.reduce sum %y {dimensions = array<i64: 0>} : (tensor<50x133xf32>) -> tensor<133xf32>
    return %s : tensor<133xf32> })"},
  {"sums of columns weighted by what lies far apart", 0, R"(func.func @f(%v: tensor<21x6xf32>, %x: tensor<21x75xf32>) -> tensor<6x75xf32> {
    %b = prim.broadcast %v {dimensions = array<i64: 0, 1>} : (tensor<21x6xf32>) -> tensor<21x6x75xf32>
    %c = prim.broadcast %x {dimensions = array<i64: 0, 2>} : (tensor<21x75xf32>) -> tensor<21x6x75xf32>
    %y = prim.mul %b, %c : (tensor<21x6x75xf32>, tensor<21x6x75xf32>) -> tensor<21x6x75xf32>
    %s = prim.reduce sum %y {dimensions = array<i64: 0>} : (tensor<21x6x75xf32>) -> tensor<6x75xf32>
    return %s : tensor<6x75xf32> })"},
  {"columns less their sums, weighted by functions of the rows", 0, R"(func.func @f(%v: tensor<37xf32>, %x: tensor<37x70xf32>) -> (tensor<70xf32>, tensor<37x70xf32>) {
    %0 = prim.mul %v, %v : (tensor<37xf32>, tensor<37xf32>) -> tensor<37xf32>
    %1 = prim.add %0, %0 : (tensor<37xf32>, tensor<37xf32>) -> tensor<37xf32>
    %2 = prim.exp %v : (tensor<37xf32>) -> tensor<37xf32>
    %3 = prim.add %1, %2 : (tensor<37xf32>, tensor<37xf32>) -> tensor<37xf32>
    %4 = prim.sqrt %3 : (tensor<37xf32>) -> tensor<37xf32>
    %5 = prim.div %v, %4 : (tensor<37xf32>, tensor<37xf32>) -> tensor<37xf32>
    %b = prim.broadcast %5 {dimensions = array<i64: 0>} : (tensor<37xf32>) -> tensor<37x70xf32>
    %y = prim.mul %x, %b : (tensor<37x70xf32>, tensor<37x70xf32>) -> tensor<37x70xf32>
    %s = prim.reduce sum %y {dimensions = array<i64: 0>} : (tensor<37x70xf32>) -> tensor<70xf32>
    %u = prim.broadcast %s {dimensions = array<i64: 1>} : (tensor<70xf32>) -> tensor<37x70xf32>
    %z = prim.sub %y, %u : (tensor<37x70xf32>, tensor<37x70xf32>) -> tensor<37x70xf32>
    return %s, %z : tensor<70xf32>, tensor<37x70xf32> })"},
  {"one sample's rows, before a constant", 1, R"(func.func @f(%x: tensor<2x5x9xf32>) -> tensor<2x5x9xf32> {
    %m = prim.reduce max %x {dimensions = array<i64: 2>} : (tensor<2x5x9xf32>) -> tensor<2x5xf32>
    %c = prim.reshape %m : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %e = prim.exp %c : (tensor<2x5x1xf32>) -> tensor<2x5x1xf32>
    %b = prim.broadcast %e {dimensions = array<i64: 0, 1, 2>} : (tensor<2x5x1xf32>) -> tensor<2x5x9xf32>
    %y = prim.mul %x, %b : (tensor<2x5x9xf32>, tensor<2x5x9xf32>) -> tensor<2x5x9xf32>
    %s = prim.slice %y {starts = array<i64: 0, 0, 0>, limits = array<i64: 1, 5, 9>, strides = array<i64: 1, 1, 1>} : (tensor<2x5x9xf32>) -> tensor<1x5x9xf32>
    %k = prim.constant dense<-0.5> : tensor<1x5x9xf32>
    %z = prim.concatenate %s, %k {dimension = 0 : i64} : (tensor<1x5x9xf32>, tensor<1x5x9xf32>) -> tensor<2x5x9xf32>
    return %z : tensor<2x5x9xf32> })"},
  {"rank 0 in and out of a reduction", 0, R"(func.func @f(%a: tensor<f32>, %x: tensor<7x9xf32>) -> (tensor<f32>, tensor<7x9xf32>) {
    %b = prim.broadcast %a {dimensions = array<i64>} : (tensor<f32>) -> tensor<7x9xf32>
    %m = prim.mul %x, %b : (tensor<7x9xf32>, tensor<7x9xf32>) -> tensor<7x9xf32>
    %s = prim.reduce sum %m {dimensions = array<i64: 0, 1>} : (tensor<7x9xf32>) -> tensor<f32>
    %t = prim.sub %s, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %u = prim.broadcast %t {dimensions = array<i64>} : (tensor<f32>) -> tensor<7x9xf32>
    %v = prim.add %u, %x : (tensor<7x9xf32>, tensor<7x9xf32>) -> tensor<7x9xf32>
    return %t, %v : tensor<f32>, tensor<7x9xf32> })"},
};
// clang-format on

TEST_CASE("patterns of models, fused, compute what the interpreter computes") {
  for (const PatternCase &pattern : kPatterns)
    for (bool passes : {true, false}) {
      bool composite = pattern.gradient || strstr(pattern.text, "nn.");
      if (!passes && composite)
        continue;
      DYNAMIC_SECTION(pattern.name << (passes ? "" : ", as written")) {
        KernelCase test{pattern.name,      pattern.text,     pattern.integerBound,
                        pattern.tolerance, pattern.gradient, passes};
        accc::test::KernelOutcome outcome = accc::test::runKernelCase(test, "x86-64-v3");
        INFO(outcome.error);
        CHECK(outcome.error.empty());
        INFO(outcome.launches << " launches");
        WARN(pattern.name << ": " << outcome.launches);
        // What is cut into parts, as large tensors are, takes more.
        CHECK((!pattern.launches || accc::getSizeDivisor() != 1 ||
               outcome.launches <= pattern.launches));
      }
    }
}
