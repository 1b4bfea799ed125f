// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/autodiff/Differentiate.h"

#include "ir/prim/Tensor.h"
#include "support/ModuleLocation.h"
#include "support/WorkScope.h"
#include "training/autodiff/Activity.h"

using namespace mlir;
using namespace accc;

namespace {
/// The cotangents found so far, and the face of the walk towards one op's rule.
class ReverseWalk final : public Gradients {
public:
  ReverseWalk(const Activity &activity, OpBuilder &builder) : activity(activity), build(builder) {}

  OpBuilder &builder() override { return build; }
  bool has(Value result) override { return cotangents.contains(result); }
  bool wants(Value operand) override { return activity.varies(operand); }

  Value of(Value result) override {
    if (Value known = cotangents.lookup(result))
      return known;
    auto type = cast<RankedTensorType>(result.getType());
    return build.create<prim::ConstantOp>(result.getLoc(), type, prim::splat(type, 0.0));
  }

  void add(Value operand, Value cotangent) override {
    if (!wants(operand))
      return;
    if (cotangent.getType() != operand.getType()) {
      current->emitOpError("has a derivative rule that gives ")
          << cotangent.getType() << " for an operand of type " << operand.getType();
      broken = true;
      return;
    }
    Value &sum = cotangents[operand];
    sum =
        sum ? build.create<prim::AddOp>(current->getLoc(), sum, cotangent).getResult() : cotangent;
  }

  /// d loss / d loss = 1.
  void seed(Value loss) {
    auto type = cast<RankedTensorType>(loss.getType());
    cotangents[loss] = build.create<prim::ConstantOp>(loss.getLoc(), type, prim::splat(type, 1.0));
  }

  LogicalResult visit(Operation *op) {
    WorkScope scope(op);
    current = op;
    Operation *before = lastBuilt();
    if (failed(cast<Differentiable>(op).differentiate(*this)) || broken)
      return failure();
    for (Operation *built = lastBuilt(); built != before; built = built->getPrevNode())
      built->setLoc(inBackward(built->getLoc()));
    return success();
  }

  Value find(Value value) const { return cotangents.lookup(value); }

private:
  /// The op behind which the rules build.
  Operation *lastBuilt() { return &*std::prev(build.getInsertionPoint()); }

  const Activity &activity;
  OpBuilder &build;
  DenseMap<Value, Value> cotangents;
  Operation *current = nullptr;
  bool broken = false;
};
} // namespace

/// Replaces an op by its decomposition; `tracked` values that were its results follow.
static LogicalResult decomposeInPlace(Operation *op, MutableArrayRef<Value> tracked) {
  WorkScope scope(op);
  OpBuilder builder(op);
  SmallVector<Value> values;
  if (failed(cast<Decomposable>(op).decompose(builder, values)))
    return failure();
  for (Value &value : tracked)
    if (auto result = dyn_cast<OpResult>(value); result && result.getOwner() == op)
      value = values[result.getResultNumber()];
  op->replaceAllUsesWith(values);
  op->erase();
  return success();
}

/// Decomposes the active ops that have no rule, until all active ops have one. `loss` and `wanted`
/// are updated where a decomposition replaces them.
static FailureOr<Activity> giveEveryActiveOpARule(Value &loss, MutableArrayRef<Value> wanted) {
  while (true) {
    Activity activity(loss, wanted);
    SmallVector<Operation *> composites;
    bool stuck = false;
    for (Operation &op : *loss.getParentBlock()) {
      if (!activity.isActive(&op) || isa<Differentiable>(op))
        continue;
      if (isa<Decomposable>(op)) {
        composites.push_back(&op);
        continue;
      }
      emitError(op.getLoc())
          << "'" << op.getName()
          << "' has no derivative, and lies between a trained parameter and the loss";
      stuck = true;
    }
    if (stuck)
      return failure();
    if (composites.empty())
      return activity;
    SmallVector<Value> tracked(wanted);
    tracked.push_back(loss);
    for (Operation *op : composites)
      if (failed(decomposeInPlace(op, tracked)))
        return failure();
    loss = tracked.pop_back_val();
    llvm::copy(tracked, wanted.begin());
  }
}

FailureOr<SmallVector<Value>> accc::differentiate(Value loss, ArrayRef<Value> wanted,
                                                  OpBuilder &builder) {
  auto lossType = dyn_cast<RankedTensorType>(loss.getType());
  if (!isFloatTensor(loss.getType()) || lossType.getRank() != 0)
    return emitError(loss.getLoc()) << "the loss must be a scalar float, and is " << loss.getType();

  WorkScope scope(loss.getParentBlock()->getParentOp());
  SmallVector<Value> sources(wanted);
  FailureOr<Activity> activity = giveEveryActiveOpARule(loss, sources);
  if (failed(activity))
    return failure();

  ReverseWalk walk(*activity, builder);
  SmallVector<Operation *> order;
  for (Operation &op : *loss.getParentBlock())
    if (activity->isActive(&op))
      order.push_back(&op);
  if (activity->isActive(loss))
    walk.seed(loss);
  for (Operation *op : llvm::reverse(order))
    if (llvm::any_of(op->getResults(), [&](Value result) { return walk.has(result); }))
      if (failed(walk.visit(op)))
        return failure();

  SmallVector<Value> gradients;
  for (Value value : sources)
    gradients.push_back(walk.find(value));
  return gradients;
}
