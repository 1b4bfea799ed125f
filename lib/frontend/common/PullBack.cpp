// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/PullBack.h"
#include "ir/prim/ReverseWalk.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

/// All ops of the block behind this one.
static SmallVector<Operation *> opsBehind(Operation *op) {
  SmallVector<Operation *> ops;
  while ((op = op->getNextNode()))
    ops.push_back(op);
  return ops;
}

/// The ops behind `before`, later ones first, through which `result` depends on one of the
/// `leaves`; `varying` becomes what depends on these. Composite ops that have no derivative are
/// decomposed; `result` follows.
static SmallVector<Operation *> findActive(Operation *before, Value &result,
                                           const DenseSet<Value> &leaves,
                                           DenseSet<Value> &varying) {
  while (true) {
    varying = leaves;
    SmallVector<Operation *> active, composites;
    SmallVector<Operation *> ops = opsBehind(before);
    for (Operation *op : ops)
      if (!op->hasTrait<ZeroGradient>() &&
          llvm::any_of(op->getOperands(), [&](Value v) { return varying.contains(v); }))
        for (Value each : op->getResults())
          if (isa<FloatType>(getElementTypeOrSelf(each.getType())))
            varying.insert(each);
    DenseSet<Value> useful = {result};
    for (Operation *op : llvm::reverse(ops)) {
      auto carries = [&](Value v) { return varying.contains(v) && useful.contains(v); };
      if (llvm::none_of(op->getResults(), carries))
        continue;
      useful.insert(op->operand_begin(), op->operand_end());
      (isa<Differentiable>(op) ? active : composites).push_back(op);
    }
    if (composites.empty())
      return active;
    for (Operation *op : composites)
      if (!isa<Decomposable>(op) || failed(decomposeInPlace(op, result)))
        fail("has no derivative here");
  }
}

SmallVector<Tensor> accc::frontend::pullBack(const NodeBuilder &node, ArrayRef<Value> primals,
                                             function_ref<Value(ArrayRef<Value> leaves)> function,
                                             function_ref<Value(Tensor result)> cotangent) {
  OpBuilder &builder = node.builder();
  // A primal may be computed from another: leaves stand for them.
  SmallVector<Operation *> barriers;
  SmallVector<Value> leaves;
  for (Value primal : primals) {
    barriers.push_back(builder.create<prim::OptimizationBarrierOp>(node.loc(), primal));
    leaves.push_back(barriers.back()->getResult(0));
  }
  Value result = function(leaves);
  for (Operation *op : opsBehind(barriers.back()))
    if (failed(mlir::verify(op, /*verifyRecursively=*/false)))
      fail("is not valid here");

  DenseSet<Value> given(leaves.begin(), leaves.end()), varying;
  SmallVector<Operation *> active = findActive(barriers.back(), result, given, varying);
  SmallVector<Operation *> built = opsBehind(barriers.back());
  ReverseWalk walk([&](Value value) { return varying.contains(value); }, builder);
  walk.seed(result, cotangent(node.wrap(result)));
  for (Operation *op : active) // later ones first
    if (llvm::any_of(op->getResults(), [&](Value each) { return walk.has(each); }))
      if (failed(walk.visit(op)))
        fail("has no derivative here");

  // What the gradients are after the leaves are gone.
  DenseMap<Value, Value> primalOf;
  for (auto [primal, leaf] : llvm::zip_equal(primals, leaves))
    primalOf[leaf] = primal;
  SmallVector<Tensor> gradients;
  for (auto [primal, leaf] : llvm::zip_equal(primals, leaves)) {
    Value gradient = walk.find(leaf);
    Value kept = gradient ? primalOf.lookup(gradient) : Value();
    gradients.push_back(!gradient ? node.wrap(primal).full(0.0)
                                  : node.wrap(kept ? kept : gradient));
  }
  for (auto [primal, barrier] : llvm::zip_equal(primals, barriers)) {
    barrier->getResult(0).replaceAllUsesWith(primal);
    barrier->erase();
  }
  for (Operation *op : llvm::reverse(built))
    if (isOpTriviallyDead(op))
      op->erase();
  return gradients;
}
