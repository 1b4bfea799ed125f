// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules that are wrong on purpose are found.
#include "debug/WrongRewrite.h"

#include "ir/prim/Prim.h"
#include "reference/interpreter/Interpreter.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;

namespace {

/// x - x = 0 is right, x + y = x * y is not (but where both are 2).
struct SubtractSelf : OpRewritePattern<prim::SubOp> {
  SubtractSelf(MLIRContext *context) : OpRewritePattern(context) { setDebugName("SubtractSelf"); }
  LogicalResult matchAndRewrite(prim::SubOp op, PatternRewriter &rewriter) const override {
    if (op.getLhs() != op.getRhs())
      return failure();
    auto type = cast<RankedTensorType>(op.getType());
    rewriter.replaceOpWithNewOp<prim::ConstantOp>(
        op, DenseElementsAttr::get(type, rewriter.getF32FloatAttr(0.0f)));
    return success();
  }
};
struct AddToMul : OpRewritePattern<prim::AddOp> {
  AddToMul(MLIRContext *context) : OpRewritePattern(context) { setDebugName("AddToMul"); }
  LogicalResult matchAndRewrite(prim::AddOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<prim::MulOp>(op, op.getLhs(), op.getRhs());
    return success();
  }
};

template <typename... Rules> LogicalResult rewrite(ModuleOp module) {
  RewritePatternSet rules(module.getContext());
  rules.add<Rules...>(module.getContext());
  return applyPatternsAndFoldGreedily(module, std::move(rules));
}

/// Changes an op without a pattern.
LogicalResult turnSubtractions(ModuleOp module) {
  module.walk([](prim::SubOp op) { op->setOperands({op.getRhs(), op.getLhs()}); });
  return success();
}

constexpr const char kText[] = R"(
func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32> {accc.name = "a"}, tensor<2xf32> {accc.name = "b"}) {
  %0 = prim.sub %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = prim.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("harmless")
  %2 = prim.add %y, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("culprit")
  %3 = prim.sub %2, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1, %3 : tensor<2xf32>, tensor<2xf32>
})";

SmallVector<ReferenceArray> run(ModuleOp module) {
  ReferenceArray x({2}), y({2});
  x.values = {2, 2};
  y.values = {3, 5};
  SmallVector<ReferenceArray> results;
  REQUIRE(succeeded(interpret(*module.getOps<func::FuncOp>().begin(), {x, y}, results)));
  return results;
}

std::string blame(LogicalResult (*transform)(ModuleOp)) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<func::FuncDialect, prim::PrimDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kText, &context);
  REQUIRE(module);
  SmallVector<ReferenceArray> expected = run(*module);
  return findWrongRewrite(*module, transform, [&](ModuleOp changed) {
    SmallVector<ReferenceArray> found = run(changed);
    for (size_t i = 0; i < expected.size(); ++i)
      if (found[i].values != expected[i].values)
        return true;
    return false;
  });
}

} // namespace

TEST_CASE("wrong rewrites: none where all are right") { CHECK(blame(rewrite<SubtractSelf>) == ""); }

TEST_CASE("wrong rewrites: the pattern and its op are named") {
  std::string found = blame(rewrite<SubtractSelf, AddToMul>);
  CHECK(found.find("AddToMul") != std::string::npos);
  CHECK(found.find("prim.add of culprit") != std::string::npos);
}

TEST_CASE("wrong rewrites: none where the fault lies in no pattern") {
  CHECK(blame(turnSubtractions) == "");
}
