// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of several tasks: sizes at the edges of what one task takes, and beyond.
#include "codegen/cpu/CpuKernels.h"
#include "kernels/Harness.h"

#include <catch2/catch.hpp>

using accc::codegen::kTaskElements;
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
       {kTaskElements - 1, kTaskElements, kTaskElements + 1, 2 * kTaskElements + 5}) {
    std::string type = tensor({size});
    check(function("%a: " + type, "abs %a", type, type));
  }
}

TEST_CASE("rows in tasks") {
  int64_t rows = 2 * kTaskElements / 100 + 3;
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

TEST_CASE("many reduced elements for each of several columns") {
  std::string wide = tensor({4, 70, 9, 40});
  for (const char *kind : {"sum", "max", "min", "prod"})
    check(function("%a: " + wide,
                   std::string("reduce ") + kind + " %a {dimensions = array<i64: 0, 1, 2>}", wide,
                   tensor({40})),
          1e-4);
}

TEST_CASE("an optimizer over parameters of all sizes is one launch") {
  std::string arguments, operands, types, results;
  for (int64_t size :
       {kTaskElements, int64_t(1), 2 * kTaskElements + 7, int64_t(33), kTaskElements + 1}) {
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
