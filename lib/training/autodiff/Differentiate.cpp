// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/autodiff/Differentiate.h"

#include "ir/prim/ReverseWalk.h"
#include "ir/prim/Tensor.h"
#include "support/WorkScope.h"
#include "training/autodiff/Activity.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace accc;

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

/// What the forward pass reads of a value in 16 bits alone, ops behind `last` read so as well: kept
/// for them it takes half the memory, and PyTorch keeps the same.
static void keepRounded(Block &block, Operation *last) {
  // The results of the function are the model's.
  auto isForward = [&](Operation *op) {
    return op == last || op->isBeforeInBlock(last) || op->hasTrait<OpTrait::IsTerminator>();
  };
  for (auto convert : block.getOps<prim::ConvertOp>()) {
    if (!isForward(convert))
      break;
    Value value = convert.getOperand();
    auto readsRounded = [&](Operation *user) {
      auto other = dyn_cast<prim::ConvertOp>(user);
      return !isForward(user) || (other && other.getType() == convert.getType());
    };
    if (!prim::isHalf(getElementTypeOrSelf(convert.getType())) || !isFloatTensor(value.getType()) ||
        isa<BlockArgument>(value) || !llvm::all_of(value.getUsers(), readsRounded))
      continue;
    OpBuilder builder(convert->getNextNode());
    Value rounded = prim::Tensor(builder, convert.getLoc(), convert.getResult())
                        .convert(getElementTypeOrSelf(value.getType()));
    value.replaceUsesWithIf(rounded, [&](OpOperand &use) { return !isForward(use.getOwner()); });
    if (rounded.use_empty())
      rounded.getDefiningOp()->erase();
  }
}

FailureOr<SmallVector<Value>> accc::differentiate(Value loss, ArrayRef<Value> wanted,
                                                  OpBuilder &builder, Value seed) {
  auto lossType = dyn_cast<RankedTensorType>(loss.getType());
  if (!isFloatTensor(loss.getType()) || lossType.getRank() != 0)
    return emitError(loss.getLoc()) << "the loss must be a scalar float, and is " << loss.getType();

  WorkScope scope(loss.getParentBlock()->getParentOp());
  SmallVector<Value> sources(wanted);
  FailureOr<Activity> activity = giveEveryActiveOpARule(loss, sources);
  if (failed(activity))
    return failure();

  Operation *last = &*std::prev(builder.getInsertionPoint());
  ReverseWalk walk([&](Value value) { return activity->varies(value); }, builder);
  SmallVector<Operation *> order;
  for (Operation &op : *loss.getParentBlock())
    if (activity->isActive(&op))
      order.push_back(&op);
  if (!seed)
    seed = builder.create<prim::ConstantOp>(loss.getLoc(), lossType, prim::splat(lossType, 1.0));
  if (activity->isActive(loss))
    walk.seed(loss, seed);
  for (Operation *op : llvm::reverse(order))
    if (llvm::any_of(op->getResults(), [&](Value result) { return walk.has(result); }))
      if (failed(walk.visit(op)))
        return failure();
  keepRounded(*loss.getParentBlock(), last);

  Activity withJumps(loss, sources, Activity::Jumps::Pass);
  SmallVector<Value> gradients;
  for (Value value : sources) {
    gradients.push_back(walk.find(value));
    if (!gradients.back() && withJumps.isActive(value))
      gradients.back() = builder.create<prim::ConstantOp>(
          loss.getLoc(), value.getType(),
          prim::splat(cast<RankedTensorType>(value.getType()), 0.0));
  }
  return gradients;
}
