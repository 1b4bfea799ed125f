// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// New values of variables are written in place where nothing still reads the old one, and copied
// where something does. schedule() verifies what it makes: these cases must be scheduled, and with
// no more launches than they need.
#include "fusion/DescribeKernels.h"
#include "ir/prim/Prim.h"
#include "schedule/Schedule.h"
#include "support/ProblemCollector.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;

namespace {

/// Kernels for the function bodies below: NAME(operands) on tensor<4xf32>.
std::string kernel(const std::string &result, const std::string &operands, int count,
                   const std::string &body) {
  std::string types, arguments;
  for (int i = 0; i < count; ++i) {
    types += i ? ", tensor<4xf32>" : "tensor<4xf32>";
    arguments += (i ? ", %a" : "%a") + std::to_string(i) + ": tensor<4xf32>";
  }
  return "  " + result + " = prim.fusion loop \"k\"(" + operands + ") : (" + types +
         ") -> tensor<4xf32> {\n  ^bb0(" + arguments + "):\n    " + body +
         "\n    prim.yield %r : tensor<4xf32>\n  }\n";
}
const std::string kNeg = "%r = prim.neg %a0 : (tensor<4xf32>) -> tensor<4xf32>";
const std::string kReverse = "%r = prim.reverse %a0 {dimensions = array<i64: 0>} : "
                             "(tensor<4xf32>) -> tensor<4xf32>";
const std::string kSub = "%r = prim.sub %a0, %a1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";

/// Of each launch of @train_step(v, w, x) with this body, whose results are the named updates and
/// outputs ("v", "w" or "output"), how many segments it has.
std::vector<size_t> launchesOf(const std::string &body,
                               const std::vector<std::pair<std::string, std::string>> &results) {
  std::string types, values, valueTypes;
  for (const auto &[value, use] : results) {
    bool isUpdate = use != "output";
    types += (types.empty() ? "" : ", ") + std::string("tensor<4xf32> {accc.name = \"r") +
             std::to_string(types.size()) + "\", accc.role = #prim.role<" +
             (isUpdate ? "update" : "output") + ">" +
             (isUpdate ? ", accc.updates = \"" + use + "\"" : "") + "}";
    values += (values.empty() ? "" : ", ") + value;
    valueTypes += (valueTypes.empty() ? "" : ", ") + std::string("tensor<4xf32>");
  }
  std::string text = R"(
func.func @train_step(%v: tensor<4xf32> {accc.name = "v", accc.role = #prim.role<parameter>},
                      %w: tensor<4xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
                      %x: tensor<4xf32> {accc.name = "x", accc.role = #prim.role<input>}) -> ()" +
                     types + ") {\n" + body + "  return " + values + " : " + valueTypes + "\n}\n";
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect>();
  ProblemCollector problems(&context);
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  INFO(text << (problems.get().empty() ? "" : problems.get().front().message));
  REQUIRE(module);
  for (auto function : module->getOps<func::FuncOp>())
    describeKernels(function);
  FailureOr<OwningOpRef<ModuleOp>> program = schedule(*module);
  INFO((problems.get().empty() ? "" : problems.get().front().message));
  REQUIRE(succeeded(program));
  std::vector<size_t> launches;
  (*program)->walk([&](Operation *op) {
    if (auto each = dyn_cast<exec::LaunchEachOp>(op))
      launches.push_back(each.getSizes().size());
    else if (isa<exec::LaunchOp>(op))
      launches.push_back(1);
  });
  return launches;
}

/// The number of launches.
size_t launches(const std::string &body,
                const std::vector<std::pair<std::string, std::string>> &results) {
  return launchesOf(body, results).size();
}

} // namespace

TEST_CASE("placement: a part of another value is no result") {
  // Whose place would be taken for that of the whole.
  std::string text =
      R"(
func.func @eval_step(%x: tensor<4xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<2xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
)" + kernel("%n", "%x", 1, kNeg) +
      R"(  %p = prim.slice %n {starts = array<i64: 0>, limits = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32>
  return %p : tensor<2xf32>
})";
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect>();
  ProblemCollector problems(&context);
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  REQUIRE(module);
  for (auto function : module->getOps<func::FuncOp>())
    describeKernels(function);
  CHECK(failed(schedule(*module)));
  REQUIRE(problems.get().size() == 1);
  CHECK(problems.get().front().message.find("result 0 is a part of another value") !=
        std::string::npos);
}

TEST_CASE("placement: an update is written in place") {
  CHECK(launches(kernel("%n", "%v, %x", 2, kSub), {{"%n", "v"}}) == 1);
}

TEST_CASE("placement: an update that reads its variable in another order is copied") {
  CHECK(launches(kernel("%n", "%v", 1, kReverse), {{"%n", "v"}}) == 2);
}

TEST_CASE("placement: an update waits for a later reader of the old value") {
  CHECK(launches(kernel("%n", "%v, %x", 2, kSub) + kernel("%m", "%v, %w", 2, kSub),
                 {{"%n", "v"}, {"%m", "w"}}) == 3);
  // The other way round nothing is in the way.
  CHECK(launches(kernel("%m", "%v, %w", 2, kSub) + kernel("%n", "%v, %x", 2, kSub),
                 {{"%n", "v"}, {"%m", "w"}}) == 2);
}

TEST_CASE("placement: variables may swap their values") {
  // What changes is saved, then both are copied.
  const std::vector<size_t> saved = {1, 1, 2};
  CHECK(launchesOf("", {{"%w", "v"}, {"%v", "w"}}) == saved);
  CHECK(launchesOf(kernel("%n", "%v", 1, kNeg), {{"%n", "v"}, {"%v", "w"}}) == saved);
}

TEST_CASE("placement: a variable that keeps its value is left alone") {
  CHECK(launches(kernel("%n", "%x", 1, kNeg), {{"%v", "v"}, {"%n", "output"}}) == 1);
}

TEST_CASE("placement: the old value of a variable is returned, as it was") {
  CHECK(launches(kernel("%n", "%v, %x", 2, kSub), {{"%n", "v"}, {"%v", "output"}}) == 3);
}

TEST_CASE("placement: one value for a variable, another and the caller") {
  // The caller's is written, and copied to both variables at once.
  CHECK(launchesOf(kernel("%n", "%v, %x", 2, kSub), {{"%n", "v"}, {"%n", "w"}, {"%n", "output"}}) ==
        std::vector<size_t>{1, 2});
}

TEST_CASE("placement: an update whose kernel may report a data error is copied behind the check") {
  CHECK(launches(kernel("%n", "%v", 1,
                        "%i = prim.constant dense<1> : tensor<4xi64>\n"
                        "    %r = prim.gather %a0, %i {axis = 0 : i64} : (tensor<4xf32>, "
                        "tensor<4xi64>) -> tensor<4xf32>"),
                 {{"%n", "w"}}) == 2);
}
