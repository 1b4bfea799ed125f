// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices that are known are sorted at compile time; too many for the text of a lit test.
#include "Equivalence.h"
#include "fusion/Passes.h"
#include "ir/prim/Prim.h"
#include "reference/interpreter/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using namespace accc::test;

static constexpr int64_t kUpdates = 600, kRows = 7;

namespace {
struct Counts {
  int sorts = 0, gathers = 0, sortedScatters = 0;
};
} // namespace

/// Sorts the indices of a scatter-add whose index number i is indexOf(i), and checks the values.
static Counts sortScatter(function_ref<int64_t(int64_t)> indexOf) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect>();
  std::string indices;
  for (int64_t i = 0; i < kUpdates; ++i)
    indices += (i ? ", " : "") + std::to_string(indexOf(i));
  std::string text =
      "func.func @f(%a: tensor<7x2xf32>, %u: tensor<600x2xf32>) -> tensor<7x2xf32> {\n"
      "  %i = prim.constant dense<[" +
      indices +
      "]> : tensor<600xi32>\n"
      "  %0 = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : "
      "(tensor<7x2xf32>, tensor<600xi32>, tensor<600x2xf32>) -> tensor<7x2xf32>\n"
      "  return %0 : tensor<7x2xf32>\n}\n";
  auto module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  std::vector<ReferenceArray> arguments = sampleArguments(function);
  SmallVector<ReferenceArray> before, after;
  REQUIRE(succeeded(interpret(function, arguments, before)));
  PassManager passes(&context);
  passes.addNestedPass<func::FuncOp>(createSortScattersPass({"cuda", {}}));
  REQUIRE(succeeded(passes.run(*module)));
  REQUIRE(succeeded(interpret(function, arguments, after)));
  CHECK(difference(after, before, 1e-12) == "");
  Counts counts;
  function.walk([&](Operation *op) {
    counts.sorts += isa<prim::SortOp>(op);
    counts.gathers += isa<prim::GatherOp>(op);
    if (auto scatter = dyn_cast<prim::ScatterOp>(op))
      counts.sortedScatters += scatter.getIndicesAreSorted();
  });
  return counts;
}

TEST_CASE("known indices are sorted at compile time") {
  Counts counts = sortScatter([](int64_t i) { return i * 5 % kRows; });
  CHECK(counts.sorts == 0);
  CHECK(counts.gathers == 1);
  CHECK(counts.sortedScatters == 1);
}

TEST_CASE("of known indices that are sorted already, nothing but that is said") {
  Counts counts = sortScatter([](int64_t i) { return i * kRows / kUpdates; });
  CHECK(counts.sorts == 0);
  CHECK(counts.gathers == 0);
  CHECK(counts.sortedScatters == 1);
}
