// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Passes.h"
#include "fusion/simplify/Patterns.h"
#include "support/CompileLog.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace accc {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;

std::optional<double> fusion::splatNumber(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  if (isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<APFloat>().convertToDouble();
  auto integer = cast<IntegerType>(elements.getElementType());
  bool isSigned = !integer.isUnsigned() && integer.getWidth() != 1;
  return elements.getSplatValue<APInt>().roundToDouble(isSigned);
}

namespace {

struct RewriteCounter : RewriterBase::Listener {
  void notifyOperationInserted(Operation *, OpBuilder::InsertPoint) override {
    count(Counter::simplify_rewrites);
  }
  void notifyOperationModified(Operation *) override { count(Counter::simplify_rewrites); }
};

/// Rules expose common subexpressions and these expose rules; two or three rounds reach rest.
constexpr int kRounds = 4;

struct SimplifyPass : accc::impl::SimplifyPassBase<SimplifyPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    fusion::populateConstantRules(set);
    fusion::populateViewRules(set);
    fusion::populateSliceRules(set);
    fusion::populateKnownIndexRules(set);
    fusion::populateCancellingRules(set);
    fusion::populateArithmeticRules(set);
    fusion::populateChoiceRules(set);
    fusion::populateReductionRules(set);
    fusion::populateContractionRules(set);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    RewriteCounter counter;
    GreedyRewriteConfig config;
    config.listener = &counter;
    config.useTopDownTraversal = true;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
    for (int round = 0; round < kRounds; ++round) {
      bool rewritten = false, merged = false;
      // Not reaching rest within the driver's limit leaves correct code, only less simple.
      (void)applyPatternsAndFoldGreedily(function, patterns, config, &rewritten);
      IRRewriter rewriter(&getContext());
      DominanceInfo dominance(function);
      eliminateCommonSubExpressions(rewriter, dominance, function, &merged);
      if (!merged)
        break;
    }
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
