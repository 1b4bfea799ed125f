// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of several tasks: sizes at the edges of what one task takes, and beyond.
#include "codegen/cpu/CpuKernels.h"
#include "kernels/Harness.h"

#include <catch2/catch.hpp>

using accc::codegen::taskElements;
using accc::test::KernelCase;
using accc::test::KernelOutcome;
using accc::test::runKernelCase;

namespace {

std::string tensor(std::initializer_list<int64_t> shape, const char *element = "f32") {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

/// One op on %a, and what else it reads.
std::string function(const std::string &arguments, const std::string &op, const std::string &types,
                     const std::string &result) {
  return "func.func @f(" + arguments + ") -> " + result + " {\n  %r = prim." + op + " : (" + types +
         ") -> " + result + "\n  return %r : " + result + "\n}\n";
}

std::string replaceAll(std::string in, char from, const std::string &to) {
  for (size_t at = 0; (at = in.find(from, at)) != std::string::npos; at += to.size())
    in.replace(at, 1, to);
  return in;
}

KernelOutcome check(const std::string &text, double tolerance = 2e-6, int64_t integerBound = 3) {
  INFO(text);
  KernelOutcome outcome =
      runKernelCase({"tasks", text.c_str(), integerBound, tolerance}, "x86-64-v3");
  CHECK(outcome.error == "");
  return outcome;
}

} // namespace

TEST_CASE("one long row in tasks") {
  for (int64_t size :
       {taskElements() - 1, taskElements(), taskElements() + 1, 2 * taskElements() + 5}) {
    std::string type = tensor({size});
    check(function("%a: " + type, "abs %a", type, type));
  }
}

TEST_CASE("one row of so many elements that parts of it are totals of their own") {
  // On a GPU 1024 lanes take 4096 at a time, 64 times for a total.
  std::string wide = tensor({150 * 4096 + 5});
  check(function("%a: " + wide, "reduce sum %a {dimensions = array<i64: 0>}", wide, tensor({})));
}

TEST_CASE("rows in tasks") {
  int64_t rows = 2 * taskElements() / 100 + 3;
  std::string wide = tensor({rows, 100}), type = "%a: " + wide, column = tensor({100}),
              row = tensor({rows});
  check(function(type, "transpose %a {permutation = array<i64: 1, 0>}", wide, tensor({100, rows})));
  check(function(type, "reduce sum %a {dimensions = array<i64: 1>}", wide, row));
  check(function(type, "reduce sum %a {dimensions = array<i64: 0>}", wide, column));
  check(function(type, "cumulative max %a {dimension = 1 : i64}", wide, wide));
  check(function(type, "arg_reduce min %a {dimension = 0 : i64}", wide, tensor({100}, "i64")));
  check(function(type + ", %i: " + tensor({5}, "i64") + ", %u: " + tensor({rows, 5}),
                 "scatter %a, %i, %u {axis = 1 : i64, kind = #prim<scatter_kind add>}",
                 wide + ", " + tensor({5}, "i64") + ", " + tensor({rows, 5}), wide),
        2e-6, 100);
  check(function(type + ", %i: " + tensor({5}, "i64") + ", %u: " + tensor({5, 100}),
                 "scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind mul>}",
                 wide + ", " + tensor({5}, "i64") + ", " + tensor({5, 100}), wide),
        2e-6, rows);
}

/// Some of a task's rows are read together; the last task has one.
TEST_CASE("scatters to more rows than a task's") {
  std::string wide = tensor({269, 2048}), updates = tensor({5, 2048}),
              arguments = "%a: " + wide + ", %u: " + updates;
  for (const char *kind : {"add", "mul"})
    check(function(arguments + ", %i: " + tensor({5}, "i64"),
                   std::string("scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind ") +
                       kind + ">}",
                   wide + ", " + tensor({5}, "i64") + ", " + updates, wide),
          2e-6, 269);
  check("func.func @f(" + arguments + ") -> " + wide +
        " {\n  %i = prim.constant dense<[0, 3, 3, 200, 268]> : tensor<5xi64>\n" +
        "  %r = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>, "
        "indices_are_sorted} : (" +
        wide + ", tensor<5xi64>, " + updates + ") -> " + wide + "\n  return %r : " + wide +
        "\n}\n");
}

TEST_CASE("many reduced elements for each of several columns") {
  std::string wide = tensor({4, 70, 9, 40});
  for (const char *kind : {"sum", "max", "min", "prod"})
    check(function("%a: " + wide,
                   std::string("reduce ") + kind + " %a {dimensions = array<i64: 0, 1, 2>}", wide,
                   tensor({40})),
          1e-4);
}

/// Of every shape that asks for another number of lanes a result: long rows and short ones, few and
/// many, with results side by side or not.
TEST_CASE("reductions along the middle of three dimensions") {
  const int64_t shapes[][3] = {{1, 20000, 1}, {3, 5000, 1},  {9, 1200, 1}, {300, 100, 1},
                               {700, 10, 1},  {3000, 3, 1},  {1, 3000, 5}, {1, 1500, 40},
                               {2, 1100, 9},  {40, 300, 33}, {500, 6, 7},  {2, 1, 100}};
  for (auto [rows, extent, columns] : shapes) {
    std::string full = tensor({rows, extent, columns}), kept = tensor({rows, columns});
    check("func.func @f(%a: " + full + ") -> (" + full + ", " + kept + ") {\n" +
              "  %m = prim.reduce max %a {dimensions = array<i64: 1>} : (" + full + ") -> " + kept +
              "\n  %b = prim.broadcast %m {dimensions = array<i64: 0, 2>} : (" + kept + ") -> " +
              full + "\n  %d = prim.sub %a, %b : (" + full + ", " + full + ") -> " + full +
              "\n  %s = prim.reduce sum %d {dimensions = array<i64: 1>} : (" + full + ") -> " +
              kept + "\n  %c = prim.broadcast %s {dimensions = array<i64: 0, 2>} : (" + kept +
              ") -> " + full + "\n  %r = prim.mul %d, %c : (" + full + ", " + full + ") -> " +
              full + "\n  return %r, %s : " + full + ", " + kept + "\n}\n",
          1e-4);
  }
}

/// A normalisation's gradient, with sums over strips of four rows: of what each row is computed
/// from, and of what it gives.
TEST_CASE("reductions along rows and across strips of them") {
  const std::string text = R"(func.func @f(%x: F, %dy: F, %g: C, %h: C) -> (F, K, P, P, P) {
    %gb = prim.broadcast %g {dimensions = array<i64: 1>} : (C) -> F
    %hb = prim.broadcast %h {dimensions = array<i64: 1>} : (C) -> F
    %p = prim.mul %dy, %gb : (F, F) -> F
    %q = prim.mul %p, %x : (F, F) -> F
    %s = prim.reduce sum %q {dimensions = array<i64: 1>} : (F) -> K
    %sb = prim.broadcast %s {dimensions = array<i64: 0>} : (K) -> F
    %t = prim.mul %x, %sb : (F, F) -> F
    %u = prim.sub %p, %t : (F, F) -> F
    %dx = prim.mul %u, %hb : (F, F) -> F
    %m = prim.mul %dy, %x : (F, F) -> F
    %ms = prim.reshape %m : (F) -> S
    %dg = prim.reduce sum %ms {dimensions = array<i64: 1>} : (S) -> P
    %ys = prim.reshape %dy : (F) -> S
    %db = prim.reduce max %ys {dimensions = array<i64: 1>} : (S) -> P
    %xs = prim.reshape %dx : (F) -> S
    %dd = prim.reduce sum %xs {dimensions = array<i64: 1>} : (S) -> P
    return %dx, %s, %dg, %db, %dd : F, K, P, P, P })";
  const int64_t shapes[][2] = {{512, 3},   {512, 40},   {1024, 33},
                               {640, 200}, {512, 1111}, {512, 4096}};
  for (auto [rows, columns] : shapes) {
    std::string shaped = text;
    const std::pair<char, std::string> types[] = {{'F', tensor({rows, columns})},
                                                  {'S', tensor({rows / 4, 4, columns})},
                                                  {'P', tensor({rows / 4, columns})},
                                                  {'K', tensor({rows})},
                                                  {'C', tensor({columns})}};
    for (const auto &[letter, type] : types)
      shaped = replaceAll(shaped, letter, type);
    check(shaped, 1e-4);
  }
}

/// More rows than a GPU computes at a time: each task has several, which share the scale; the last
/// has fewer.
TEST_CASE("many rows that share what they are scaled by") {
  std::string text = R"(func.func @f(%x: F, %g: C) -> F {
    %gb = prim.broadcast %g {dimensions = array<i64: 1>} : (C) -> F
    %s = prim.reduce max %x {dimensions = array<i64: 1>} : (F) -> K
    %sb = prim.broadcast %s {dimensions = array<i64: 0>} : (K) -> F
    %d = prim.sub %x, %sb : (F, F) -> F
    %y = prim.mul %d, %gb : (F, F) -> F
    return %y : F })";
  for (int64_t columns : {40, 64}) {
    std::string shaped = replaceAll(text, 'F', tensor({8195, columns}));
    check(replaceAll(replaceAll(shaped, 'K', tensor({8195})), 'C', tensor({columns})));
  }
}

/// Rows too long for registers: maximum and sums of exponentials are found in one pass. About a
/// half of x is -inf, and all of the last row.
TEST_CASE("softmax of long rows") {
  std::string text =
      R"(func.func @f(%a: F, %y: tensor<17001xf32>) -> (F, K, K) {
    %rows = prim.constant dense<[[1.0], [1.0], [0.0]]> : tensor<3x1xf32>
    %zero = prim.constant dense<0.0> : F
    %b = prim.broadcast %rows {dimensions = array<i64: 0, 1>} : (tensor<3x1xf32>) -> F
    %p = prim.mul %a, %b : (F, F) -> F
    %q = prim.max %p, %zero : (F, F) -> F
    %x = prim.log %q : (F) -> F
    %m = prim.reduce max %x {dimensions = array<i64: 1>} : (F) -> K
    %none = prim.constant dense<0.0> : K
    %least = prim.constant dense<0xff800000> : K
    %c = prim.compare eq %m, %least : (K, K) -> tensor<3xi1>
    %g = prim.select %c, %none, %m : (tensor<3xi1>, K, K) -> K
    %n = prim.broadcast SHIFT {dimensions = array<i64: 0>} : (K) -> F
    %d = prim.sub %x, %n : (F, F) -> F
    %e = prim.exp %d : (F) -> F
    %s = prim.reduce sum %e {dimensions = array<i64: 1>} : (F) -> K
    %w = prim.broadcast %y {dimensions = array<i64: 1>} : (tensor<17001xf32>) -> F
    %v = prim.mul %w, %e : (F, F) -> F
    %t = prim.reduce sum %v {dimensions = array<i64: 1>} : (F) -> K
    %u = prim.broadcast %s {dimensions = array<i64: 0>} : (K) -> F
    %o = prim.div %e, %u : (F, F) -> F
    return %o, %s, %t : F, K, K })";
  for (const char *shift : {"%m", "%g"}) { // what is subtracted: the maximum, or 0 for -inf
    std::string shifted = text;
    shifted.replace(shifted.find("SHIFT"), 5, shift);
    check(replaceAll(replaceAll(shifted, 'F', tensor({3, 17001})), 'K', tensor({3})), 1e-4);
  }
}

TEST_CASE("reductions of other types, in many lanes") {
  for (const char *element : {"f64", "i64", "i32", "f32"})
    for (const char *kind : {"max", "min"}) {
      std::string wide = tensor({2, 3000, 3}, element);
      check(function("%a: " + wide,
                     std::string("reduce ") + kind + " %a {dimensions = array<i64: 1>}", wide,
                     tensor({2, 3}, element)),
            2e-6, 1000);
    }
}

TEST_CASE("reductions around a kept dimension") {
  for (int64_t size : {1, 2, 7, 20}) {
    std::string wide = tensor({6, 5, size, size});
    check(function("%a: " + wide, "reduce sum %a {dimensions = array<i64: 0, 2, 3>}", wide,
                   tensor({5})),
          1e-4);
  }
}

TEST_CASE("an optimizer over parameters of all sizes is one launch") {
  std::string arguments, operands, types, results;
  for (int64_t size :
       {taskElements(), int64_t(1), 2 * taskElements() + 7, int64_t(33), taskElements() + 1}) {
    std::string n = std::to_string(results.size()), type = tensor({size}),
                comma = results.empty() ? "" : ", ";
    arguments += comma + "%p" + n + ": " + type + ", %g" + n + ": " + type;
    operands += comma + "%p" + n + ", %g" + n;
    types += comma + type + ", " + type;
    results += comma + type;
  }
  std::string flat = tensor({int64_t(1) << 30});
  KernelOutcome outcome = check(
      "func.func @f(" + arguments + ") -> (" + results +
      ") {\n  %r:5 = prim.fusion_each \"sub\" (" + operands + ") : (" + types + ") -> (" + results +
      ") {\n  ^bb0(%p: " + flat + ", %g: " + flat + "):\n    %d = prim.sub %p, %g : (" + flat +
      ", " + flat + ") -> " + flat + "\n    prim.yield %d : " + flat +
      "\n  }\n  return %r#0, %r#1, %r#2, %r#3, %r#4 : " + results + "\n}\n");
  CHECK(outcome.launches == 1);
}
