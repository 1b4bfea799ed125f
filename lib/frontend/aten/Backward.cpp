// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/Backward.h"
#include "ir/prim/ReverseWalk.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
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

SmallVector<Tensor> accc::aten::pullBack(const Node &node, Rule rule, ArrayRef<Primal> primals,
                                         Tensor cotangent) {
  OpBuilder &builder = node.builder();
  // A primal may be computed from another: leaves stand for them.
  Node forward = node;
  SmallVector<Operation *> leaves;
  DenseSet<Value> given, varying;
  for (const Primal &primal : primals) {
    leaves.push_back(builder.create<prim::OptimizationBarrierOp>(node.loc(), primal.value));
    forward.set(primal.name, leaves.back()->getResult(0));
    given.insert(leaves.back()->getResult(0));
  }
  Value result = rule(forward).front().tensor;
  for (Operation *op : opsBehind(leaves.back()))
    if (failed(mlir::verify(op, /*verifyRecursively=*/false)))
      fail("is not valid here");

  SmallVector<Operation *> active = findActive(leaves.back(), result, given, varying);
  SmallVector<Operation *> built = opsBehind(leaves.back());
  auto type = cast<RankedTensorType>(result.getType());
  ReverseWalk walk([&](Value value) { return varying.contains(value); }, builder);
  walk.seed(result, node.broadcastTo(cotangent.convert(type.getElementType()), type.getShape()));
  for (Operation *op : active) // later ones first
    if (llvm::any_of(op->getResults(), [&](Value each) { return walk.has(each); }))
      if (failed(walk.visit(op)))
        fail("has no derivative here");

  SmallVector<Tensor> gradients;
  for (auto [primal, leaf] : llvm::zip_equal(primals, leaves)) {
    Value gradient = walk.find(leaf->getResult(0));
    Tensor value = node.wrap(primal.value);
    gradients.push_back(gradient ? node.wrap(gradient) : value.full(0.0));
    leaf->getResult(0).replaceAllUsesWith(primal.value);
    leaf->erase();
  }
  for (Operation *op : llvm::reverse(built))
    if (isOpTriviallyDead(op))
      op->erase();
  return gradients;
}

Entities accc::aten::pullBackMasked(Node &node, Rule rule, ArrayRef<Primal> primals,
                                    Tensor cotangent) {
  SmallVector<bool> mask = node.booleans("output_mask");
  if (mask.size() != primals.size())
    fail("'output_mask' has " + Twine(mask.size()) + " entries");
  SmallVector<Primal> wanted;
  for (auto [isWanted, primal] : llvm::zip_equal(mask, primals))
    if (isWanted && primal.value)
      wanted.push_back(primal);
  if (wanted.empty())
    return Entities(primals.size());
  SmallVector<Tensor> gradients = pullBack(node, rule, wanted, cotangent);
  Entities results;
  for (size_t i = 0, next = 0; i < primals.size(); ++i)
    results.push_back(mask[i] && primals[i].value ? Entity(gradients[next++]) : Entity());
  return results;
}

Entities accc::aten::backwardOfLinear(Node &node, Rule rule, StringRef sizes) {
  Tensor gradient = node.floatIn("grad_output");
  Tensor anything = node.full(node.integers(sizes), gradient.elementType(), 0);
  return {pullBack(node, rule, {{"self", anything}}, gradient).front()};
}
