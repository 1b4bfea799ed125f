// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels write over what they read for the last time.
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

constexpr const char *kProduct =
    " {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, "
    "rhs_contracting = array<i64: 0>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n";

OwningOpRef<ModuleOp> scheduled(MLIRContext &context, const std::string &text) {
  context.loadDialect<func::FuncDialect, prim::PrimDialect>();
  ProblemCollector problems(&context);
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  INFO(text << (problems.get().empty() ? "" : problems.get().front().message));
  REQUIRE(module);
  for (auto function : module->getOps<func::FuncOp>())
    describeKernels(function);
  FailureOr<OwningOpRef<ModuleOp>> program = schedule(*module);
  REQUIRE(succeeded(program));
  return std::move(*program);
}

/// Whether the launch in `x @ x, then the kernel, then a contraction` writes where it reads: the
/// body makes %r of %a, which is x @ x; `after` follows the kernel's result %1, of which `use`
/// makes %2, as large as x.
bool isInPlace(const std::string &body, const std::string &result = "tensor<8x8xf32>",
               const std::string &after = "", std::string use = "") {
  if (use.empty())
    use = "  %2 = prim.reshape %1 : (" + result + ") -> tensor<8x8xf32>\n";
  std::string product = kProduct;
  std::string text =
      R"(
func.func @eval_step(%x: tensor<8x8xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<8x8xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.dot_general %x, %x)" +
      product + "  %1 = prim.fusion loop \"kernel\"(%0) : (tensor<8x8xf32>) -> " + result +
      " {\n  ^bb0(%a: tensor<8x8xf32>):\n" + body + "    prim.yield %r : " + result + "\n  }\n" +
      use + after + "  %y = prim.dot_general %x, %2" + product +
      "  return %y : tensor<8x8xf32>\n}\n";
  MLIRContext context;
  OwningOpRef<ModuleOp> program = scheduled(context, text);
  bool found = false;
  program->walk([&](exec::LaunchOp launch) {
    auto in = launch.getInputs()[0].getDefiningOp<exec::SliceOp>();
    auto out = launch.getOutputs()[0].getDefiningOp<exec::SliceOp>();
    found |= in.getSpace() == exec::Space::arena && out.getSpace() == exec::Space::arena &&
             in.getOffset() == out.getOffset();
  });
  return found;
}

} // namespace

TEST_CASE("a kernel writes over what it reads for the last time") {
  CHECK(isInPlace("    %r = prim.neg %a : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"));
  CHECK(isInPlace("    %n = prim.neg %a : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
                  "    %r = prim.reshape %n : (tensor<8x8xf32>) -> tensor<64xf32>\n",
                  "tensor<64xf32>"));
}

TEST_CASE("a kernel that reads other elements than it writes does not write over them") {
  CHECK_FALSE(isInPlace("    %r = prim.transpose %a {permutation = array<i64: 1, 0>} : "
                        "(tensor<8x8xf32>) -> tensor<8x8xf32>\n"));
}

TEST_CASE("a kernel does not write wider or narrower elements over as many bytes") {
  // Element j of the first kernel's result would lie over elements 2 j and 2 j + 1 of its input.
  CHECK_FALSE(isInPlace(
      R"(    %h = prim.slice %a {starts = array<i64: 0, 0>, limits = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<4x8xf32>
    %r = prim.convert %h : (tensor<4x8xf32>) -> tensor<4x8xf64>
)",
      "tensor<4x8xf64>", "",
      R"(  %2 = prim.fusion loop "narrow"(%1) : (tensor<4x8xf64>) -> tensor<8x8xf32> {
  ^bb0(%b: tensor<4x8xf64>):
    %zero = prim.constant dense<0.0> : tensor<f32>
    %n = prim.convert %b : (tensor<4x8xf64>) -> tensor<4x8xf32>
    %p = prim.pad %n, %zero {low = array<i64: 0, 0>, high = array<i64: 4, 0>, interior = array<i64: 0, 0>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    prim.yield %p : tensor<8x8xf32>
  }
)"));
}

TEST_CASE("a kernel does not write over what is read later") {
  CHECK_FALSE(isInPlace("    %r = prim.neg %a : (tensor<8x8xf32>) -> tensor<8x8xf32>\n",
                        "tensor<8x8xf32>",
                        std::string("  %later = prim.dot_general %0, %0") + kProduct));
}

TEST_CASE("only one result of a kernel is written over an input, even where nobody reads it") {
  std::string product = kProduct;
  std::string text =
      R"(
func.func @eval_step(%x: tensor<8x8xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<8x8xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.dot_general %x, %x)" +
      product +
      R"(  %1:2 = prim.fusion loop "kernel"(%0) : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  ^bb0(%a: tensor<8x8xf32>):
    %n = prim.neg %a : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %e = prim.exp %a : (tensor<8x8xf32>) -> tensor<8x8xf32>
    prim.yield %n, %e : tensor<8x8xf32>, tensor<8x8xf32>
  }
  %y = prim.dot_general %x, %1#1)" +
      product + "  return %y : tensor<8x8xf32>\n}\n";
  MLIRContext context;
  OwningOpRef<ModuleOp> program = scheduled(context, text);
  program->walk([](exec::LaunchOp launch) {
    auto first = launch.getOutputs()[0].getDefiningOp<exec::SliceOp>(),
         second = launch.getOutputs()[1].getDefiningOp<exec::SliceOp>();
    CHECK((first.getSpace() != second.getSpace() || first.getOffset() != second.getOffset()));
  });
}
