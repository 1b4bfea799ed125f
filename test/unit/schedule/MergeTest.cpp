// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs for several sizes become one.
#include "schedule/merge/Merge.h"
#include "schedule/Schedule.h"
#include "support/ProblemCollector.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using Catch::Matchers::Contains;

namespace {

/// A program that doubles rows of the variable w: `variable` its declaration, `rows` of its input.
std::string program(const std::string &variable, int rows) {
  std::string type = "tensor<" + std::to_string(rows) + "x3xf32>";
  return variable + R"(
exec.constant @c0 dense<2.0> : tensor<3xf32>
exec.kernel @double loop "double" {
^bb0(%a: )" +
         type + R"():
  %0 = prim.add %a, %a : ()" +
         type + ", " + type + ") -> " + type + R"(
  prim.yield %0 : )" +
         type + R"(
}
exec.kernel @update loop "update" {
^bb0(%a: tensor<3xf32>):
  %0 = prim.neg %a : (tensor<3xf32>) -> tensor<3xf32>
  prim.yield %0 : tensor<3xf32>
}
exec.entry @apply_step attributes {arena_size = 64 : i64, inputs = [], input_values = array<i64>,
    outputs = [], output_values = array<i64>,
    variables = [{name = "w", before = 0, after = 2}]} {
  %w = exec.slice state 0 of 2 : !exec.buffer<tensor<3xf32>>
  %c = exec.slice constant 0 @c0 of 1 : !exec.buffer<tensor<3xf32>>
  exec.check
  exec.launch @update(%c) -> (%w) : !exec.buffer<tensor<3xf32>> -> !exec.buffer<tensor<3xf32>>
}
exec.entry @eval_step attributes {arena_size = 64 : i64, input_values = array<i64: 0>,
    output_values = array<i64: 1>, variables = [],
    inputs = [{name = "x", role = #prim.role<input>, type = )" +
         type + R"(}],
    outputs = [{name = "y", role = #prim.role<output>, type = )" +
         type + R"(}]} {
  %x = exec.slice input 0 of 0 : !exec.buffer<)" +
         type + R"(>
  %y = exec.slice output 0 of 1 : !exec.buffer<)" +
         type + R"(>
  exec.launch @double(%x) -> (%y) : !exec.buffer<)" +
         type + "> -> !exec.buffer<" + type + R"(>
}
)";
}

constexpr const char *kVariable = "exec.variable \"w\" <parameter> tensor<3xf32> at 0 trainable";

struct Merging {
  Merging() : problems(&context) { context.loadDialect<exec::ExecDialect, prim::PrimDialect>(); }

  FailureOr<OwningOpRef<ModuleOp>> merge(const std::vector<std::string> &texts) {
    std::vector<SizedProgram> programs;
    for (const std::string &text : texts) {
      auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
      INFO((problems.get().empty() ? "" : problems.get().front().message));
      REQUIRE(module);
      programs.push_back({"rows=" + std::to_string(programs.size()), std::move(module)});
    }
    return mergePrograms(programs);
  }
  std::string error(const std::vector<std::string> &texts) {
    REQUIRE(failed(merge(texts)));
    REQUIRE(problems.get().size() == 1);
    return problems.take().front().message;
  }

  MLIRContext context;
  ProblemCollector problems;
};

} // namespace

TEST_CASE(
    "merge: variables, equal kernels and apply_step are there once, entries at each of the sizes") {
  Merging merging;
  auto merged = merging.merge({program(kVariable, 4), program(kVariable, 5)});
  REQUIRE(succeeded(merged));
  CHECK(succeeded(verifySchedule(**merged)));
  std::vector<std::string> entries, kernels;
  for (auto entry : (**merged).getOps<exec::EntryOp>()) {
    entries.push_back(entry.getSymName().str());
    CHECK(entry.getSizesText() == (entry.getEntryName() == "apply_step" ? ""
                                   : entries.size() == 2                ? "rows=0"
                                                                        : "rows=1"));
  }
  CHECK(entries ==
        std::vector<std::string>{"apply_step", "eval_step[rows=0]", "eval_step[rows=1]"});
  for (auto kernel : (**merged).getOps<exec::KernelOp>())
    kernels.push_back(kernel.getSymName().str());
  CHECK(kernels == std::vector<std::string>{"update", "double", "double.1"});
  CHECK(llvm::range_size((**merged).getOps<exec::VariableOp>()) == 1);
  CHECK(llvm::range_size((**merged).getOps<exec::ConstantOp>()) == 1);
  for (auto launch :
       llvm::to_vector((**merged).getOps<exec::EntryOp>()).back().getOps<exec::LaunchOp>())
    CHECK(launch.getKernel() == "double.1");
}

TEST_CASE("merge: what cannot be in one library is named") {
  Merging merging;
  SECTION("an exchange of other tensors") {
    auto exchanging = [](int rows) {
      std::string text = program(kVariable, rows);
      std::string type = "!exec.buffer<tensor<" + std::to_string(rows) + "x3xf32>>";
      return text.insert(text.find("exec.launch @double"),
                         "exec.collective \"all_reduce\" {}(%x) -> (%x) : " + type + " -> " + type +
                             "\n  ");
    };
    CHECK_THAT(merging.error({exchanging(4), exchanging(5)}),
               Contains("eval_step exchanges other tensors with -D rows=1 than with -D rows=0"));
  }
  SECTION("a variable of another type") {
    CHECK_THAT(
        merging.error({program(kVariable, 4),
                       program("exec.variable \"w\" <parameter> tensor<5xf32> at 0 trainable", 5)}),
        Contains("the parameter 'w' is trained tensor<3xf32> with -D rows=0, but trained "
                 "tensor<5xf32> with -D rows=1"));
  }
  SECTION("a variable that is trained at one of the sizes only") {
    CHECK_THAT(merging.error({program(kVariable, 4),
                              program("exec.variable \"w\" <parameter> tensor<3xf32> at 0", 5)}),
               Contains("'w' is trained tensor<3xf32>") && Contains("but tensor<3xf32>"));
  }
  SECTION("a variable that one of the sizes lacks") {
    CHECK_THAT(merging.error({program(kVariable, 4), program("", 5)}),
               Contains("with -D rows=0 the model has 1 variables, with -D rows=1 it has 0"));
    CHECK_THAT(merging.error({program("", 4), program(kVariable, 5)}),
               Contains("is not there with -D rows=0"));
  }
  SECTION("sizes that no input tells apart") {
    CHECK_THAT(
        merging.error({program(kVariable, 4), program(kVariable, 5), program(kVariable, 4)}),
        Contains("with -D rows=0 and with -D rows=2 eval_step takes inputs of the same shapes"));
  }
}
