// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/Recipe.h"

#include "budget/JoinCopies.h"
#include "budget/PartOfKernel.h"
#include "ir/prim/RoundingErrors.h"
#include "support/TensorBytes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace accc;

namespace {
/// Copies of copies: more do not pay.
constexpr int kMostSteps = 6;
/// A value that is so many times smaller than what is freed is rather kept.
constexpr int64_t kMuchSmaller = 8;

/// `operand`, an alias of `storage` or that itself, as an alias of `other`.
Value aliasOf(Value operand, Value storage, Value other, OpBuilder &b) {
  if (operand == storage || storage == other)
    return storage == other ? operand : other;
  Operation *alias = operand.getDefiningOp();
  Value source = aliasOf(alias->getOperand(0), storage, other, b);
  Operation *copy = b.clone(*alias);
  copy->setOperand(0, source);
  return copy->getResult(0);
}
} // namespace

/// The version of a value that lies in memory at step `at`; null if none does.
Value Recipe::inMemory(Value storage) const {
  Operation *op = storage.getDefiningOp();
  if (!op || isa<prim::ConstantOp>(op))
    return storage; // steps behind the check of the data are not asked for
  for (Value version : copies.versionsOf(storage))
    if (const Kept *kept = lifetimes.find(version); kept && kept->isThereAt(at))
      return version;
  return {};
}

bool Recipe::take(Value storage, Value version) {
  sameBits &= !copies.isRoundedOtherwise(version);
  available[storage] = version;
  return true;
}

/// Sees to it that the value is there at step `at`.
bool Recipe::need(Value storage, int depth) {
  if (available.contains(storage))
    return true;
  if (Value there = inMemory(storage))
    return take(storage, there);
  const Kept *kept = lifetimes.find(storage);
  if (kept && kept->first < at && kept->bytes * kMuchSmaller <= tensorBytes(value)) {
    extended.insert(storage);
    return take(storage, storage);
  }
  return computeAgain(storage, depth);
}

bool Recipe::computeAgain(Value storage, int depth) {
  if (depth == kMostSteps)
    return false;
  auto result = cast<OpResult>(storage);
  Operation *op = result.getOwner();
  if (lifetimes.getOrder().indexOf(op) < 0 || lifetimes.getOrder().indexOf(op) >= at)
    return false;
  Again again{result, {}, {}};
  if (auto fusion = dyn_cast<prim::FusionOp>(op)) {
    if (!slice(fusion, again, depth))
      return false;
  } else if (prim::isCall(op) && op->getNumResults() == 1 && !op->hasTrait<Collective>() &&
             !isa<CustomCallLike>(op)) { // whose cost nobody knows
    for (Value operand : op->getOperands())
      if (!need(storageOf(operand), depth + 1))
        return false;
  } else {
    return false;
  }
  if (steps.size() == kMostSteps)
    return false;
  steps.push_back(std::move(again));
  available[storage] = storage; // `apply` knows the copy
  if (storage != value)
    extra += tensorBytes(storage);
  return true;
}

/// Finds what of the fusion's body the one result needs.
bool Recipe::slice(prim::FusionOp fusion, Again &again, int depth) {
  if (fusion.getKind() != prim::KernelKind::loop && fusion.getKind() != prim::KernelKind::reduce)
    return false;
  Block &body = fusion.getBody().front();
  Operation *yield = body.getTerminator();
  DenseMap<Value, Value> given; // value of the body -> the fusion's result
  for (auto [inside, outside] : llvm::zip(yield->getOperands(), fusion.getOutputs()))
    given.try_emplace(inside, outside);
  Value wanted = yield->getOperand(again.result.getResultNumber());
  DenseSet<Operation *> needed;
  SmallVector<Value> pending{wanted};
  while (!pending.empty()) {
    Value inside = pending.pop_back_val();
    if (again.read.contains(inside))
      continue;
    if (auto argument = dyn_cast<BlockArgument>(inside)) {
      Value operand = fusion.getInputs()[argument.getArgNumber()];
      if (!need(storageOf(operand), depth + 1))
        return false;
      again.read[inside] = operand;
      continue;
    }
    // What the kernel also gave and is still there, or small enough to be kept, is read.
    if (Value outside = given.lookup(inside); outside && inside != wanted) {
      const Kept *kept = lifetimes.find(outside);
      bool isSmall = kept && kept->bytes * kMuchSmaller <= tensorBytes(value);
      if ((inMemory(outside) || isSmall) && need(outside, depth + 1)) {
        again.read[inside] = outside;
        continue;
      }
    }
    Operation *op = inside.getDefiningOp();
    if (op->hasTrait<ReportsErrors>())
      return false;
    if (needed.insert(op).second)
      llvm::append_range(pending, op->getOperands());
  }
  for (Operation &op : body.without_terminator())
    if (needed.contains(&op))
      again.body.insert(&op);
  if (again.body.empty())
    return false;
  sameBits &= llvm::none_of(again.body, prim::ordersTerms);
  hasJumps |= llvm::any_of(
      again.body, [](Operation *op) { return llvm::any_of(op->getOpOperands(), prim::jumps); });
  prim::KernelKind kind = prim::kernelKind(again.body.getArrayRef());
  return kind == prim::KernelKind::loop || kind == prim::KernelKind::reduce;
}

std::optional<Recipe> Recipe::find(Value value, int64_t at, const Lifetimes &lifetimes,
                                   const Copies &copies, const SameBits &sameBits) {
  Recipe recipe(value, at, lifetimes, copies, sameBits);
  if (!recipe.computeAgain(value, 0))
    return std::nullopt;
  if (!recipe.sameBits && (recipe.wantsSameBits || recipe.hasJumps))
    return std::nullopt;
  return recipe;
}

/// Whether a kernel that runs at step `at` or later reads the value, and may give what is computed
/// of it as well (JoinCopies.h).
bool Recipe::isReadByKernel(Value outside) const {
  const Kept *kept = lifetimes.find(available.lookup(storageOf(outside)));
  return kept && llvm::any_of(kept->uses, [&](int64_t use) {
           return use >= at && isa<prim::FusionOp>(lifetimes.getOrder().steps[use]);
         });
}

double Recipe::cost(const Costs &costs, bool expectsJoins) const {
  double sum = 0;
  for (const Again &step : steps) {
    Operation *op = step.result.getOwner();
    if (!isa<prim::FusionOp>(op)) {
      sum += costs.ofStep(op);
      continue;
    }
    double launch = costs.ofLaunch();
    double bytes = tensorBytes(step.result) + costs.ofFunctions(step.body.getArrayRef());
    for (auto [inside, outside] : step.read)
      if (expectsJoins && isReadByKernel(outside))
        launch = 0;
      else
        bytes += static_cast<double>(tensorBytes(outside));
    sum += launch + bytes;
  }
  return sum;
}

void Recipe::apply(const Lifetimes &lifetimes, Copies &copies) const {
  const Order &order = lifetimes.getOrder();
  OpBuilder b(order.steps[at]);
  DenseMap<Value, Value> now(available); // by storage
  auto operandNow = [&](Value operand) {
    Value storage = storageOf(operand);
    return aliasOf(operand, storage, now.lookup(storage), b);
  };
  for (const Again &step : steps) {
    Operation *op = step.result.getOwner();
    Value copy;
    if (auto fusion = dyn_cast<prim::FusionOp>(op)) {
      llvm::MapVector<Value, Value> read(step.read);
      for (auto &[inside, outside] : read)
        outside = operandNow(outside);
      Value wanted =
          fusion.getBody().front().getTerminator()->getOperand(step.result.getResultNumber());
      auto made = makePartOf(fusion, b, read, step.body.getArrayRef(), wanted);
      made->setAttr(kComputedAgain, b.getUnitAttr());
      copy = made.getOutputs().front();
    } else {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(operandNow(operand));
      Operation *made = b.clone(*op);
      made->setOperands(operands);
      copy = made->getResult(step.result.getResultNumber());
    }
    now[step.result] = copy;
    copies.add(step.result, copy, sameBits);
  }
  Value copy = now.lookup(value);
  for (Operation *reader : ArrayRef(order.steps).drop_front(at)) {
    OpBuilder before(reader);
    for (OpOperand &operand : reader->getOpOperands())
      if (storageOf(operand.get()) == value)
        operand.set(aliasOf(operand.get(), value, copy, before));
  }
}
