// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/fuse/Groups.h"

#include "fusion/fuse/AccessAnalysis.h"

using namespace mlir;
using namespace accc;

namespace {
constexpr size_t kMaxOps = 96;     // longer bodies spill registers
constexpr size_t kMaxBuffers = 32; // inputs and outputs: streams the hardware cannot prefetch

/// Ops whose emitter walks the iteration space in a way of its own.
bool isAnchor(Operation *op) {
  return isa<prim::ScatterOp, prim::WindowScatterOp, prim::ArgWindowOp, prim::ArgReduceOp,
             prim::CumulativeOp, prim::SortOp>(op);
}

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Whether `ops`, one of them the anchor, may be one kernel with these results.
FusionDecision mayBeOneWith(Operation *anchor, ArrayRef<Operation *> ops, ArrayRef<Value> results) {
  if (llvm::any_of(ops, [](Operation *op) { return isa<prim::ReduceOp>(op); }))
    return FusionDecision::forbid(
        "a reduction and an op that walks the data in an order of its own");
  for (Value result : results)
    if (result.getDefiningOp() != anchor)
      return FusionDecision::forbid("such a kernel gives nothing but that op's results");
  for (Operation *op : ops)
    if (op != anchor && !isa<prim::ConvertOp, prim::SelectOp, prim::CompareOp, prim::MulOp,
                             prim::AddOp, prim::SubOp, prim::NegOp, prim::DivOp>(op))
      return FusionDecision::forbid("only cheap pointwise ops are read by such a kernel");
  return FusionDecision::allow();
}

/// What no kernel computes, and what reads its operands from memory.
bool standsAlone(Operation *op) {
  return prim::isContraction(op) ||
         isa<prim::OptimizationBarrierOp, prim::FusionOp, prim::FusionEachOp>(op);
}

Part findPart(Operation *op) {
  if (standsAlone(op))
    return Part::Library;
  if (isa<prim::ReshapeOp>(op))
    return Part::Alias;
  if (auto constant = dyn_cast<prim::ConstantOp>(op))
    return constant.getValue().isSplat() ? Part::Free : Part::Library;
  // Free only if kernels alone read it: a library or the caller needs it in memory.
  if (isa<prim::IotaOp, prim::BroadcastOp>(op)) {
    SmallVector<Operation *> pending{op};
    while (!pending.empty())
      for (Operation *user : pending.pop_back_val()->getUsers()) {
        if (user->hasTrait<OpTrait::IsTerminator>() || standsAlone(user))
          return Part::Member;
        if (isa<prim::ReshapeOp>(user))
          pending.push_back(user);
      }
    return Part::Free;
  }
  return Part::Member;
}
} // namespace

// Its ops carry that name as their location, which outlives rewriting.
bool accc::belongsToOptimizer(Operation *op) {
  bool found = false;
  op->getLoc()->walk([&](Location loc) {
    if (auto name = dyn_cast<NameLoc>(loc))
      found |= name.getName() == "optimizer";
    return WalkResult::advance();
  });
  return found;
}

Groups::Groups(Block &block) {
  for (Operation &op : block.without_terminator()) {
    auto next = static_cast<int64_t>(order.size());
    position[&op] = place[&op] = next;
    order.push_back(&op);
    Part part = parts[&op] = findPart(&op);
    if (part != Part::Member)
      continue;
    group[&op] = size();
    groups.push_back({{&op}});
  }
}

Part Groups::partOf(Operation *op) const {
  auto it = parts.find(op);
  return it == parts.end() ? findPart(op) : it->second;
}

int64_t Groups::groupOf(Operation *op) const {
  auto it = group.find(op);
  return it == group.end() ? -1 : it->second;
}

Operation *Groups::standFor(Operation *op) const {
  int64_t which = groupOf(op);
  return which < 0 ? op : groups[which].ops.front();
}

void Groups::forEachUser(Value value, function_ref<void(Operation *)> visit) const {
  SmallVector<Value> pending{value};
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (comesAlong(user))
        pending.push_back(user->getResult(0));
      else
        visit(user);
    }
}

SmallVector<int64_t> Groups::readers(int64_t which) const {
  llvm::SmallSetVector<int64_t, 8> found;
  for (Operation *op : groups[which].ops)
    for (Value result : op->getResults())
      forEachUser(result, [&](Operation *user) {
        int64_t other = groupOf(user);
        if (other >= 0 && other != which)
          found.insert(other);
      });
  SmallVector<int64_t> result(found.begin(), found.end());
  llvm::sort(result, [&](int64_t a, int64_t b) {
    return position.lookup(groups[a].ops.front()) < position.lookup(groups[b].ops.front());
  });
  return result;
}

SmallVector<Value> Groups::outputs(ArrayRef<Operation *> ops) const {
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  SmallVector<Value> result;
  for (Operation *op : ops)
    for (Value value : op->getResults()) {
      bool needed = false;
      forEachUser(value, [&](Operation *user) { needed |= !inside.contains(user); });
      if (needed)
        result.push_back(value);
    }
  return result;
}

FusionDecision Groups::mayBeOne(ArrayRef<Operation *> ops) const {
  if (ops.size() > kMaxOps)
    return FusionDecision::forbid("the kernel would be longer than " + std::to_string(kMaxOps) +
                                  " ops");
  SmallVector<Value> results = outputs(ops);
  if (results.empty())
    return FusionDecision::forbid("nothing is computed");
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  auto isInside = [&](Operation *op) { return inside.contains(op) || comesAlong(op); };
  SmallVector<prim::ReduceOp> reductions;
  Operation *anchor = nullptr;
  for (Operation *op : ops) {
    if (auto reduction = dyn_cast<prim::ReduceOp>(op))
      reductions.push_back(reduction);
    if (isAnchor(op)) {
      if (anchor)
        return FusionDecision::forbid("two ops that each walk the data in an order of their own");
      anchor = op;
    }
  }
  if (anchor)
    return mayBeOneWith(anchor, ops, results);

  // The iteration space: the operand of the reductions, or the results.
  SmallVector<int64_t> space(
      shapeOf(reductions.empty() ? results.front() : reductions.front().getOperand()));
  SmallVector<bool> reduced(space.size(), false);
  SmallVector<int64_t> keptShape(space);
  if (!reductions.empty()) {
    prim::ReduceOp first = reductions.front();
    for (prim::ReduceOp other : reductions)
      if (shapeOf(other.getOperand()) != ArrayRef<int64_t>(space) ||
          other.getDimensions() != first.getDimensions())
        return FusionDecision::forbid("reductions over different spaces");
    for (int64_t d : first.getDimensions())
      reduced[d] = true;
    keptShape.assign(shapeOf(first.getResult()).begin(), shapeOf(first.getResult()).end());
  }
  AccessAnalysis analysis(ops.front()->getContext(), space, isInside);
  SmallVector<AffineExpr> full = analysis.identity(), kept;
  for (size_t i = 0; i < space.size(); ++i)
    if (!reduced[i])
      kept.push_back(full[i]);
  for (Value result : results) {
    if (shapeOf(result) == ArrayRef<int64_t>(space))
      analysis.element(result, full);
    else if (!reductions.empty() && shapeOf(result) == ArrayRef<int64_t>(keptShape))
      analysis.element(result, kept);
    else
      return FusionDecision::forbid("results of different shapes");
  }
  for (prim::ReduceOp reduction : reductions) {
    analysis.element(reduction.getResult(), kept);
    analysis.element(reduction.getOperand(), full);
  }
  AffineExpr own =
      reductions.empty() ? AffineExpr() : analysis.offsetOf(reductions.front().getResult(), kept);
  for (const AccessAnalysis::Read &read : analysis.reductionReads)
    if (read.offset != own)
      return FusionDecision::forbid(
          "a reduction is read at other indices than where it is computed");
  if (analysis.leaves.size() + results.size() > kMaxBuffers)
    return FusionDecision::forbid("more than " + std::to_string(kMaxBuffers) + " buffers");
  int64_t expensive = llvm::count_if(ops, isExpensive);
  if (analysis.expensiveEvaluations > expensive ||
      analysis.evaluations > 3 * static_cast<int64_t>(ops.size()) + 24)
    return FusionDecision::forbid("values would be computed several times");
  return FusionDecision::allow();
}

std::optional<DenseSet<Operation *>> Groups::between(Operation *first, Operation *second) const {
  DenseSet<Operation *> needing;
  SmallVector<Operation *> pending{first};
  while (!pending.empty()) {
    Operation *at = pending.pop_back_val();
    bool found = false;
    auto visit = [&](Operation *user) {
      if (user->hasTrait<OpTrait::IsTerminator>())
        return;
      Operation *next = standFor(user);
      if (next == second)
        found |= at != first;
      else if (next != at && place.lookup(next) < place.lookup(second) &&
               needing.insert(next).second)
        pending.push_back(next);
    };
    int64_t which = groupOf(at);
    for (Operation *op : which < 0 ? ArrayRef(at) : ArrayRef(groups[which].ops))
      for (Value result : op->getResults())
        forEachUser(result, visit);
    if (found)
      return std::nullopt;
  }
  return needing;
}

void Groups::moveTogether(int64_t first, int64_t second, Operation *merged,
                          const DenseSet<Operation *> &needing) {
  SmallVector<Operation *> before, after;
  for (int64_t i = first + 1; i < second; ++i)
    if (Operation *op = order[i])
      (needing.contains(op) ? after : before).push_back(op);
  int64_t next = first;
  auto put = [&](Operation *op) {
    place[op] = next;
    order[next++] = op;
  };
  llvm::for_each(before, put);
  put(merged);
  llvm::for_each(after, put);
  while (next <= second)
    order[next++] = nullptr;
}

FusionDecision Groups::merge(int64_t a, int64_t b) {
  if (belongsToOptimizer(groups[a].ops.front()) != belongsToOptimizer(groups[b].ops.front()))
    return FusionDecision::forbid("the optimizer runs over all parameters at once");
  SmallVector<Operation *> ops(groups[a].ops);
  ops.append(groups[b].ops);
  llvm::sort(ops,
             [&](Operation *x, Operation *y) { return position.lookup(x) < position.lookup(y); });
  FusionDecision decision = mayBeOne(ops);
  if (!decision)
    return decision;
  Operation *first = groups[a].ops.front(), *second = groups[b].ops.front();
  if (place.lookup(second) < place.lookup(first))
    std::swap(first, second);
  std::optional<DenseSet<Operation *>> needing = between(first, second);
  if (!needing)
    return FusionDecision::forbid(
        "something between the two needs the one and is needed by the other");
  moveTogether(place.lookup(first), place.lookup(second), ops.front(), *needing);
  groups[b].ops = ops;
  groups[a].ops.clear();
  for (Operation *op : ops)
    group[op] = b;
  return decision;
}

void Groups::add(Operation *op, Operation *original, int64_t to) {
  position[op] = position.lookup(original);
  group[op] = to;
  auto &ops = groups[to].ops;
  ops.insert(llvm::find_if(ops, [&](Operation *other) { return op->isBeforeInBlock(other); }), op);
}

void Groups::remove(Operation *op) {
  auto it = group.find(op);
  llvm::erase(groups[it->second].ops, op);
  group.erase(it);
  position.erase(op);
}
