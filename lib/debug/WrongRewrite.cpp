// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "debug/WrongRewrite.h"

#include "support/ProblemCollector.h"

#include "mlir/IR/Action.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Rewrite/PatternApplicator.h"

#include <limits>

using namespace mlir;
using namespace accc;

namespace {

/// Lets the first `limit` attempts to apply a pattern through and counts all of them. An attempt
/// that does not match counts, too: it leaves the module alone.
class RewriteLimit {
public:
  RewriteLimit(MLIRContext *context, int64_t limit) : context(context) {
    context->registerActionHandler(
        [this, limit](llvm::function_ref<void()> transform, const tracing::Action &action) {
          if (action.getTag() != ApplyPatternAction::tag)
            return transform();
          ++attempts;
          if (attempts == limit)
            last = describe(action);
          if (attempts <= limit)
            transform();
        });
  }
  ~RewriteLimit() { context->registerActionHandler(nullptr); }

  int64_t attempts = 0;
  /// The last attempt that was let through.
  std::string last;

private:
  static std::string describe(const tracing::Action &action) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    action.print(stream);
    for (IRUnit unit : action.getContextIRUnits())
      if (auto *op = llvm::dyn_cast_if_present<Operation *>(unit)) {
        stream << " on " << op->getName();
        if (std::string node = nodeName(op->getLoc()); !node.empty())
          stream << " of " << node;
      }
    return text;
  }

  MLIRContext *context;
};

} // namespace

std::string accc::findWrongRewrite(ModuleOp before,
                                   llvm::function_ref<LogicalResult(ModuleOp)> transform,
                                   llvm::function_ref<bool(ModuleOp)> isWrong) {
  struct Trial {
    bool wrong;
    int64_t attempts;
    std::string last;
  };
  auto tryWith = [&](int64_t limit) {
    OwningOpRef<ModuleOp> module = before.clone();
    Trial trial;
    {
      RewriteLimit rewrites(before.getContext(), limit);
      trial.wrong = failed(transform(*module));
      trial.attempts = rewrites.attempts;
      trial.last = rewrites.last;
    }
    trial.wrong = trial.wrong || isWrong(*module);
    return trial;
  };
  Trial whole = tryWith(std::numeric_limits<int64_t>::max());
  if (!whole.wrong || whole.attempts == 0 || tryWith(0).wrong)
    return "";
  int64_t right = 0, wrong = whole.attempts;
  while (wrong - right > 1) {
    int64_t middle = right + (wrong - right) / 2;
    (tryWith(middle).wrong ? wrong : right) = middle;
  }
  return tryWith(wrong).last;
}
