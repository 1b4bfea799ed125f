// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/Budget.h"
#include "budget/DropUnread.h"
#include "budget/JoinCopies.h"
#include "budget/Passes.h"
#include "budget/Recipe.h"
#include "fusion/DescribeKernels.h"
#include "ir/prim/FunctionContract.h"
#include "schedule/memory/Placement.h"
#include "support/DeadCode.h"
#include "support/Fault.h"
#include "support/HumanBytes.h"
#include "support/TensorBytes.h"
#include "target/TargetedPass.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace accc {
#define GEN_PASS_DEF_FITMEMORYPASS
#include "budget/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;

namespace {
/// Planning may take more than what is live at one step: so often is the limit lowered by that.
constexpr int kRounds = 4;
/// What is computed again may in turn be copied for what reads the copies: so often.
constexpr size_t kMostCopies = 4;
/// A value by this part smaller than the peak makes no difference.
constexpr int64_t kLittle = 4096;
/// Copies without a lower peak: it is the lowest.
constexpr int kPatience = 64;

std::string readable(int64_t bytes) { return humanBytes(static_cast<double>(bytes), 2); }

/// As much or a little more, by which a budget given as the text is enough.
std::string readableUp(int64_t bytes) {
  int64_t step = 1; // of the third digit
  for (int64_t rest = bytes; rest >= 1000; rest /= 10)
    step *= 10;
  return readable(llvm::divideCeil(bytes, static_cast<uint64_t>(step)) * step);
}

/// A value that is not kept between two of its uses.
struct Choice {
  Value value;
  int64_t at = 0; // the second
  double score = 0;
};

/// One entry point.
class Fitting {
public:
  /// `expectsJoins`: copies are chosen as if they became part of other kernels.
  Fitting(func::FuncOp function, const Costs &costs, const VariableTable &variables,
          bool expectsJoins)
      : function(function), costs(costs), variables(variables), expectsJoins(expectsJoins) {}

  /// Of a run, in bytes (Target.h).
  double cost() const { return costs.ofSteps(*orderSteps(function)); }
  /// Bytes of the arena. Fails on a bug.
  FailureOr<int64_t> arena() const { return arenaOf(function); }
  /// Computes values again until the arena takes at most `limit` bytes, or as long as that helps.
  /// Gives what it takes then.
  FailureOr<int64_t> shrink(int64_t limit);
  /// Makes kernels that compute values again one with others, as long as the arena takes at most
  /// `limit` bytes. Gives what it takes then.
  FailureOr<int64_t> join(int64_t limit);

  int64_t copied = 0; // values

private:
  int64_t peak() const { return lifetimes().peak(); }
  /// Computes values again until at no step more than `limit` bytes are live; false if what can be
  /// is not enough.
  bool lower(int64_t limit);
  /// `enough` as planMemory's.
  FailureOr<int64_t> arenaOf(func::FuncOp function, int64_t enough = 0) const;
  Lifetimes lifetimes() const { return {function, *orderSteps(function)}; }
  void moveUpdatesToWhereTheyRun();
  Choice best(const Lifetimes &lifetimes, const Copies &copies, const SameBits &sameBits,
              int64_t limit) const;

  func::FuncOp function;
  const Costs &costs;
  const VariableTable &variables;
  bool expectsJoins;
};
} // namespace

FailureOr<int64_t> Fitting::arenaOf(func::FuncOp function, int64_t enough) const {
  FailureOr<Order> order = orderSteps(function);
  if (failed(order))
    return failure();
  FailureOr<Placement> placement = Placement::compute(function, *order, variables, enough);
  if (failed(placement))
    return failure();
  return placement->arenaSize;
}

Choice Fitting::best(const Lifetimes &lifetimes, const Copies &copies, const SameBits &sameBits,
                     int64_t limit) const {
  Choice best;
  int64_t peak = lifetimes.peak(), end = lifetimes.getOrder().firstUpdate;
  std::vector<int64_t> over{0}; // before each step: at how many steps too much is live
  for (int64_t live : lifetimes.live())
    over.push_back(over.back() + (live > limit));
  // What it is worth that bytes are free between two steps; more than there is too much are not
  // worth more.
  auto gain = [&](int64_t from, int64_t to, int64_t bytes) {
    return to > from ? static_cast<double>(over[to] - over[from + 1]) *
                           static_cast<double>(std::min(bytes, peak - limit))
                     : 0;
  };
  for (const auto &[value, kept] : lifetimes.values()) {
    if (kept.bytes * kLittle < peak || copies.timesCopied(value) == kMostCopies)
      continue;
    int64_t from = kept.first;
    for (int64_t to : kept.uses) {
      double freed = to < end ? gain(from, to, kept.bytes) : 0;
      int64_t since = std::exchange(from, to);
      if (freed == 0)
        continue;
      std::optional<Recipe> recipe = Recipe::find(value, to, lifetimes, copies, sameBits);
      if (!recipe || lifetimes.live()[to] + recipe->extraBytes() >= std::max(peak, limit + 1))
        continue;
      for (Value longer : recipe->longer()) {
        const Kept *other = lifetimes.find(longer);
        freed -= gain(std::max(since, other->last()), to, other->bytes);
      }
      double score = freed / recipe->cost(costs, expectsJoins);
      if (score > best.score)
        best = {value, to, score};
    }
  }
  return best;
}

/// All readers of a copy stand behind it then.
void Fitting::moveUpdatesToWhereTheyRun() {
  if (FailureOr<Order> order = orderSteps(function); succeeded(order))
    for (Operation *update : ArrayRef(order->steps).drop_front(order->firstUpdate))
      update->moveBefore(function.getBody().front().getTerminator());
}

bool Fitting::lower(int64_t limit) {
  Copies copies;
  int64_t lowest = peak();
  for (int inVain = 0; inVain < kPatience; ++inVain) {
    moveUpdatesToWhereTheyRun();
    Lifetimes now = lifetimes();
    if (now.peak() <= limit)
      return true;
    if (now.peak() < lowest)
      inVain = 0;
    lowest = std::min(lowest, now.peak());
    SameBits sameBits(function.getBody().front());
    Choice choice = best(now, copies, sameBits, limit);
    if (!choice.value)
      return false;
    Recipe recipe = *Recipe::find(choice.value, choice.at, now, copies, sameBits);
    ++copied;
    recipe.apply(now, copies);
    // What nobody reads any more would pass for an update, which keeps alive what it reads.
    eraseDeadCode(function.getBody().front(), nullptr, [&](Operation *op) {
      for (Value result : op->getResults())
        copies.forget(result);
    });
  }
  return false;
}

FailureOr<int64_t> Fitting::shrink(int64_t limit) {
  FailureOr<int64_t> taken = arena();
  bool possible = true;
  for (int round = 0; round < kRounds && possible && succeeded(taken) && *taken > limit; ++round) {
    int64_t planned = *taken - peak(); // what the plan takes beside what is live
    possible = lower(std::max<int64_t>(0, limit - std::max<int64_t>(0, planned)));
    dropUnreadResults(function);
    describeKernels(function);
    taken = arena();
  }
  return taken;
}

FailureOr<int64_t> Fitting::join(int64_t limit) {
  joinCopies(function, costs.getTarget(), [&](func::FuncOp trial) {
    FailureOr<int64_t> taken = arenaOf(trial, limit);
    return succeeded(taken) && *taken <= limit;
  });
  return arena();
}

/// Inputs and outputs, which lie beside the state and the arena.
static int64_t transferredBytes(func::FuncOp function) {
  int64_t sum = 0;
  auto add = [&](Value value) { sum += tensorBytes(cast<RankedTensorType>(value.getType())); };
  for (BlockArgument argument : function.getArguments())
    if (!isVariable(argumentRole(function, argument.getArgNumber())))
      add(argument);
  for (OpOperand &returned : function.getBody().front().getTerminator()->getOpOperands())
    if (!isUpdate(function, returned))
      add(returned.get());
  return sum;
}

namespace {
/// One way to fit.
struct Smaller {
  OwningOpRef<func::FuncOp> function;
  int64_t arena = 0, copied = 0;
  double cost = 0; // of a run, in bytes (Target.h)
};
} // namespace

/// A copy of the function that was made to take `aim` bytes, if that can be; where it takes no more
/// than `limit`, copies are joined.
static FailureOr<Smaller> makeSmaller(func::FuncOp function, const Costs &costs,
                                      const VariableTable &variables, bool expectsJoins,
                                      int64_t aim, int64_t limit) {
  Smaller smaller{function.clone()};
  Fitting fitting(*smaller.function, costs, variables, expectsJoins);
  FailureOr<int64_t> arena = fitting.shrink(aim);
  if (succeeded(arena) && *arena <= limit)
    arena = fitting.join(limit);
  if (failed(arena))
    return failure();
  smaller.arena = *arena;
  smaller.copied = fitting.copied;
  smaller.cost = fitting.cost();
  return std::move(smaller);
}

/// One function. `state`: bytes of all variables.
static LogicalResult fit(func::FuncOp function, const Costs &costs, const VariableTable &variables,
                         int64_t state, int64_t budget, Economy &economy) {
  int64_t transferred = transferredBytes(function), limit = budget - state - transferred;
  Fitting whole(function, costs, variables, true);
  FailureOr<int64_t> arena = whole.arena();
  if (failed(arena) || *arena <= limit)
    return arena;
  // Which copies will become part of other kernels is not known before they are made.
  std::optional<Smaller> best;
  for (bool expectsJoins : {true, false}) {
    if (limit <= 0)
      break;
    FailureOr<Smaller> made =
        makeSmaller(function, costs, variables, expectsJoins, /*aim=*/limit, limit);
    if (failed(made))
      return failure();
    if (made->arena <= limit && (!best || made->cost < best->cost))
      best = std::move(*made);
  }
  if (!best) {
    // What is chosen depends on the limit: without one it is what the error tells of.
    FailureOr<Smaller> made =
        makeSmaller(function, costs, variables, /*expectsJoins=*/true, /*aim=*/0, limit);
    if (failed(made))
      return failure();
    best = std::move(*made);
  }
  if (best->arena > limit)
    return emitUsageFault(function.getLoc())
           << "--memory-budget: " << function.getSymName() << " takes "
           << readableUp(state + transferred + best->arena)
           << " with all computed again that can be (" << readable(state) << " of variables, "
           << readable(transferred) << " of inputs and outputs, " << readable(best->arena)
           << " of scratch), and " << readable(budget)
           << " are given: give more, or use a smaller batch";
  economy.cost += best->cost - whole.cost();
  economy.notes.push_back(llvm::formatv(
      "{0}: {1} values are computed again instead of kept, for {2} instead of {3}",
      function.getSymName(), best->copied, readable(state + transferred + best->arena),
      readable(state + transferred + *arena)));
  function.getBody().takeBody(best->function->getBody());
  return success();
}

FailureOr<Economy> accc::fitMemory(ModuleOp module, const Costs &costs, int64_t budget) {
  OwningOpRef<ModuleOp> program = ModuleOp::create(module.getLoc());
  FailureOr<VariableTable> variables = declareVariables(module, *program);
  if (failed(variables))
    return failure();
  int64_t state = 0;
  for (auto variable : program->getOps<exec::VariableOp>())
    state += tensorBytes(cast<RankedTensorType>(variable.getType()));
  Economy economy;
  bool fits = true; // all that do not are told
  for (auto function : module.getOps<func::FuncOp>())
    fits &= succeeded(fit(function, costs, *variables, state, budget, economy));
  if (!fits)
    return failure();
  return economy;
}

namespace {
struct FitMemoryPass : TargetedPass<accc::impl::FitMemoryPassBase<FitMemoryPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    if (failed(fitMemory(getOperation(), {getTarget(), tf32}, budget)))
      signalPassFailure();
  }
};
} // namespace
