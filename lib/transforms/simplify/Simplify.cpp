// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/CompileLog.h"
#include "transforms/Passes.h"
#include "transforms/simplify/Patterns.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace accc {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "transforms/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;

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
  using SimplifyPassBase::SimplifyPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    transforms::populateConstantRules(set);
    transforms::populateViewRules(set);
    transforms::populateSliceRules(set);
    transforms::populateKnownIndexRules(set);
    transforms::populateCancellingRules(set);
    transforms::populateArithmeticRules(set);
    transforms::populateChoiceRules(set);
    transforms::populateReductionRules(set);
    transforms::populateContractionRules(set, keepFactors);
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
