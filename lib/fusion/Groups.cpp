// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Groups.h"

#include "fusion/AccessAnalysis.h"
#include "fusion/Chunk.h"
#include "fusion/NarrowInputs.h"
#include "ir/prim/Geometry.h"
#include "ir/prim/IndexMath.h"
#include "ir/prim/KernelReductions.h"
#include "ir/prim/Pieces.h"
#include "support/CompileLog.h"
#include "support/TensorBytes.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace accc;

namespace {
ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Whether `ops`, one of them the anchor, may be one kernel with these results.
FusionDecision mayBeOneWith(Operation *anchor, ArrayRef<Operation *> ops, ArrayRef<Value> results) {
  if (llvm::any_of(ops, [](Operation *op) { return isa<prim::ReduceOp>(op); }))
    return FusionDecision::forbid(
        "a reduction and an op that walks the data in an order of its own");
  if (ops.size() > 1 && prim::worksInResults(anchor))
    return FusionDecision::forbid("such a kernel reads its operands several times");
  for (Value result : results)
    if (result.getDefiningOp() != anchor)
      return FusionDecision::forbid("such a kernel gives nothing but that op's results");
  // Of sorted indices the updates are read where they lie, once, in the order of the indices.
  auto scatter = dyn_cast<prim::ScatterOp>(anchor);
  auto isOrderOfUpdates = [&](Operation *op) {
    return scatter && scatter.getIndicesAreSorted() && op == scatter.getUpdates().getDefiningOp() &&
           isa<prim::GatherOp>(op);
  };
  for (Operation *op : ops)
    if (op != anchor && !isOrderOfUpdates(op) && (!isa<Pointwise>(op) || op->hasTrait<Expensive>()))
      return FusionDecision::forbid("only cheap pointwise ops are read by such a kernel");
  return FusionDecision::allow();
}
} // namespace

Groups::Groups(Block &block, const Target &target) : target(target) {
  DenseMap<Operation *, RunOrder::Node> nodes;
  DenseSet<Operation *> behindBarrier;
  for (Operation &op : block.without_terminator()) {
    position[&op] = static_cast<int64_t>(position.size());
    Part part = parts[&op] = findPart(&op);
    auto isBehind = [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return producer &&
             (isa<prim::OptimizationBarrierOp>(producer) || behindBarrier.contains(producer));
    };
    if (llvm::any_of(op.getOperands(), isBehind))
      behindBarrier.insert(&op);
    if (comesAlong(&op))
      continue;
    RunOrder::Node node = nodes[&op] = order.add();
    if (part != Part::Member)
      continue;
    group[&op] = size();
    groups.push_back({{&op}, node, behindBarrier.contains(&op), getChunk(&op)});
  }
  for (Operation &op : block.without_terminator())
    if (auto from = nodes.find(&op); from != nodes.end())
      for (Value result : op.getResults())
        forEachUser(result, [&](Operation *user) {
          if (auto to = nodes.find(user); to != nodes.end()) // not the terminator
            order.addEdge(from->second, to->second);
        });
}

bool Groups::standsAlone(Operation *op) const {
  return prim::isCall(op) ||
         isa<prim::OptimizationBarrierOp, prim::FusionOp, prim::FusionEachOp>(op);
}

/// Whether all of the value lies in memory, whatever a slice takes of it.
bool Groups::isWholeInMemory(Value value) const {
  Value source = value;
  while (isa_and_nonnull<prim::ReshapeOp, prim::OptimizationBarrierOp>(source.getDefiningOp()))
    source = source.getDefiningOp()->getOperand(0);
  Operation *producer = source.getDefiningOp();
  if (!producer || standsAlone(producer))
    return true;
  if (isa<prim::IotaOp, prim::BroadcastOp, prim::ConstantOp>(producer))
    return false; // kernels compute these
  int64_t read = 0;
  for (Operation *user : value.getUsers()) {
    if (!isa<prim::SliceOp>(user))
      return true;
    read += cast<RankedTensorType>(user->getResult(0).getType()).getNumElements();
  }
  return read >= cast<RankedTensorType>(value.getType()).getNumElements();
}

Part Groups::findPart(Operation *op) const {
  if (standsAlone(op))
    return Part::Library;
  if (isa<prim::ReshapeOp>(op))
    return Part::Alias;
  if (auto slice = dyn_cast<prim::SliceOp>(op);
      slice && isPlaceInMemory(slice) && isWholeInMemory(slice.getOperand()))
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

Part Groups::partOf(Operation *op) const {
  auto it = parts.find(op);
  return it == parts.end() ? findPart(op) : it->second;
}

int64_t Groups::groupOf(Operation *op) const {
  auto it = group.find(op);
  return it == group.end() ? -1 : it->second;
}

bool Groups::anyUser(Value value, function_ref<bool(Operation *)> isSuch) const {
  int64_t visited = 0;
  auto counted = llvm::make_scope_exit([&] { count(Counter::fusion_users, visited); });
  SmallVector<Value> pending{value};
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      ++visited;
      if (comesAlong(user))
        pending.push_back(user->getResult(0));
      else if (isSuch(user))
        return true;
    }
  return false;
}

void Groups::forEachUser(Value value, function_ref<void(Operation *)> visit) const {
  anyUser(value, [&](Operation *user) {
    visit(user);
    return false;
  });
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
    return isBefore(groups[a].ops.front(), groups[b].ops.front());
  });
  return result;
}

/// Whether this result is the indices of a sort, in whose memory kernels sort where the target has
/// none of its own for lines.
bool Groups::sortsIn(Value result) const {
  auto sort = result.getDefiningOp<prim::SortOp>();
  return sort && result == sort.getIndices() &&
         !target.getMaxSortedElements(elementBytes(sort.getOperand().getType()));
}

SmallVector<Value> Groups::outputs(ArrayRef<Operation *> ops) const {
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  SmallVector<Value> result;
  for (Operation *op : ops)
    for (Value value : op->getResults())
      if (prim::worksInResults(op) || sortsIn(value) ||
          anyUser(value, [&](Operation *user) { return !inside.contains(user); }))
        result.push_back(value);
  return result;
}

/// Strips are as long as the target wants them.
bool Groups::mayHaveColumns(const prim::KernelReductions &reductions) const {
  if (reductions.columns.empty())
    return true;
  int64_t rows = prim::ReduceOp(reductions.rows.front()).getType().getNumElements();
  int64_t elements =
      prim::ReduceOp(reductions.columns.front()).getOperand().getType().getDimSize(2);
  int64_t wanted = target.getStripRows(rows, elements);
  return wanted > 0 && reductions.stripRows() == wanted;
}

/// Whether the op repeats each element for so many neighbours.
static bool makesRuns(prim::BroadcastOp op, RepeatedRuns runs) {
  ArrayRef<int64_t> dimensions = op.getDimensions(), shape = shapeOf(op.getResult());
  auto rank = static_cast<int64_t>(dimensions.size());
  if (!llvm::equal(dimensions, llvm::seq<int64_t>(0, rank)) ||
      shapeOf(op.getOperand()) != shape.take_front(rank))
    return false;
  int64_t run = ReferenceArray::count(shape.drop_front(rank));
  return runs.least <= run && run <= runs.most;
}

/// Whether several ops of as many elements compute the large value.
bool Groups::isWorthAKernel(Value value) const {
  constexpr size_t kOps = 4;
  int64_t elements = cast<RankedTensorType>(value.getType()).getNumElements();
  if (elements < target.getCachedElements())
    return false;
  llvm::SetVector<Operation *> found;
  SmallVector<Value> pending{value};
  while (!pending.empty() && found.size() < kOps) {
    Value next = pending.pop_back_val();
    Operation *op = next.getDefiningOp();
    bool computes = isa_and_nonnull<Pointwise>(op);
    if (!op || (!computes && partOf(op) != Part::Alias) || (computes && !found.insert(op)) ||
        cast<RankedTensorType>(next.getType()).getNumElements() != elements)
      continue;
    llvm::append_range(pending, op->getOperands());
  }
  return found.size() >= kOps;
}

/// Whether a kernel would compute elements of a large value one by one, each for a run of
/// neighbours, where a kernel of its own computes them in vectors. What it computes of a reduction
/// is there once a row.
bool Groups::computesForRuns(ArrayRef<Operation *> ops) const {
  DenseSet<Operation *> inside(ops.begin(), ops.end()), ofRows;
  for (Operation *op : ops)
    for (Value operand : op->getOperands()) {
      bool isRun = false;
      Operation *producer = operand.getDefiningOp();
      while (producer && comesAlong(producer) && producer->getNumOperands() > 0) {
        if (auto broadcast = dyn_cast<prim::BroadcastOp>(producer))
          isRun |= makesRuns(broadcast, target.getRepeatedRuns());
        operand = producer->getOperand(0);
        producer = operand.getDefiningOp();
      }
      if (!producer || !inside.contains(producer))
        continue;
      if (isa<prim::ReduceOp>(producer) || ofRows.contains(producer))
        ofRows.insert(op);
      else if (isRun && isa<Pointwise>(producer) && isWorthAKernel(operand))
        return true;
    }
  return false;
}

/// The bytes, for each of `elements` of a kernel's space, that are neither written nor read because
/// the kernel computes what its windows read.
static double savedByWindows(ArrayRef<Operation *> ops, const DenseSet<Operation *> &inside,
                             int64_t elements) {
  int64_t bytes = 0;
  DenseSet<Value> seen;
  for (Operation *op : ops)
    if (isa<Windowed>(op))
      for (Value operand : op->getOperands())
        if (inside.contains(operand.getDefiningOp()) && seen.insert(operand).second)
          bytes += tensorBytes(operand);
  return elements == 0 ? 0 : 2.0 * static_cast<double>(bytes) / static_cast<double>(elements);
}

/// Whether windows read what windows inside give, which read more.
static bool computesSmallWindows(ArrayRef<Operation *> ops, const DenseSet<Operation *> &inside) {
  return llvm::any_of(ops, [&](Operation *op) {
    return isa<Windowed>(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
             Operation *producer = operand.getDefiningOp();
             return inside.contains(producer) && isa<Windowed>(producer) &&
                    tensorBytes(producer->getOperand(0)) > tensorBytes(operand);
           });
  });
}

FusionDecision Groups::mayBeOne(ArrayRef<Operation *> ops) const {
  const KernelLimits limits = target.getKernelLimits();
  if (ops.size() > limits.ops)
    return FusionDecision::forbid("the kernel would be longer than " + std::to_string(limits.ops) +
                                  " ops");
  int64_t functions = llvm::count_if(ops, [](Operation *op) { return op->hasTrait<Expensive>(); });
  if (functions > limits.expensiveOps && ops.size() > 1)
    return FusionDecision::forbid("the kernel would evaluate more than " +
                                  std::to_string(limits.expensiveOps) + " elementary functions");
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
    if (prim::isAnchor(op)) {
      if (anchor)
        return FusionDecision::forbid("two ops that each walk the data in an order of their own");
      anchor = op;
    }
  }
  if (anchor)
    return mayBeOneWith(anchor, ops, results);
  if (computesSmallWindows(ops, inside))
    return FusionDecision::forbid("what windows read would be less than what it is computed of");
  if (computesForRuns(ops))
    return FusionDecision::forbid("elements of a large value would be computed one by one");

  std::optional<prim::KernelReductions> sorted = prim::sortReductions(reductions);
  if (!sorted || !mayHaveColumns(*sorted))
    return FusionDecision::forbid("reductions over different spaces");
  for (prim::ReduceOp column : sorted->columns)
    if (anyUser(column, [&](Operation *user) { return inside.contains(user); }))
      return FusionDecision::forbid("what is reduced of several rows is read");

  // The iteration space: the operand of the reductions, or the results.
  SmallVector<int64_t> space(reductions.empty() ? prim::spaceOf(results)
                                                : shapeOf(sorted->rows.front().getOperand()));
  SmallVector<bool> reduced(space.size(), false);
  SmallVector<int64_t> keptShape(space);
  if (!reductions.empty()) {
    prim::ReduceOp first = sorted->rows.front();
    for (int64_t d : first.getDimensions())
      reduced[d] = true;
    keptShape.assign(shapeOf(first.getResult()).begin(), shapeOf(first.getResult()).end());
  }
  // Only loops write pieces.
  auto isFull = [&](Value result) {
    return reductions.empty() ? prim::isWalkedOver(result, space) : sorted->isFull(result);
  };
  for (Value result : results)
    if (!isFull(result) && !sorted->isColumn(result) &&
        (reductions.empty() || shapeOf(result) != ArrayRef<int64_t>(keptShape)))
      return FusionDecision::forbid("results of different shapes");
  auto manyBuffers = [&] {
    return FusionDecision::forbid("more than " + std::to_string(limits.buffers) + " buffers");
  };
  // Elements need not be followed to know that of an op with many operands.
  DenseSet<Value> read;
  for (Operation *op : ops)
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if ((!producer || !isInside(producer)) && read.insert(operand).second &&
          read.size() + results.size() > limits.buffers)
        return manyBuffers();
    }
  AccessAnalysis analysis(ops.front()->getContext(), space, isInside);
  SmallVector<AffineExpr> full = analysis.identity(), kept;
  for (size_t i = 0; i < space.size(); ++i)
    if (!reduced[i])
      kept.push_back(full[i]);
  for (Value result : results) {
    if (sorted->isColumn(result))
      continue;
    SmallVector<AffineExpr> position = isFull(result) ? full : kept;
    if (!reductions.empty() && isFull(result))
      position = prim::reshapeIndex(ops.front()->getContext(), full, space, shapeOf(result));
    prim::forEachPiece(result, space, position, [&](Value piece, ArrayRef<AffineExpr>) {
      analysis.element(piece, position);
    });
  }
  for (prim::ReduceOp reduction : sorted->rows) {
    analysis.element(reduction.getResult(), kept);
    analysis.element(reduction.getOperand(), full);
  }
  for (prim::ReduceOp column : sorted->columns) {
    prim::ElementOf operand = prim::columnOperand(column, space, full);
    analysis.element(operand.tensor, operand.index);
  }
  AffineExpr own =
      reductions.empty() ? AffineExpr() : analysis.offsetOf(sorted->rows.front().getResult(), kept);
  for (const AccessAnalysis::Read &read : analysis.reductionReads)
    if (read.offset != own)
      return FusionDecision::forbid(
          "a reduction is read at other indices than where it is computed");
  if (analysis.leaves.size() + results.size() > limits.buffers)
    return manyBuffers();
  double saved = savedByWindows(ops, inside, ReferenceArray::count(space));
  if (analysis.expensiveEvaluations > functions ||
      static_cast<double>(analysis.evaluations) >
          3 * static_cast<double>(ops.size()) + 24 + limits.evaluationsPerByte * saved ||
      prim::isLargeWindow(analysis.nestedWindowReads) ||
      static_cast<double>(analysis.nestedWindowReads) > limits.windowReadsPerByte * saved)
    return FusionDecision::forbid("values would be computed several times");
  return FusionDecision::allow();
}

FusionDecision Groups::merge(int64_t a, int64_t b) {
  count(Counter::fusion_attempts);
  if (groups[a].isOptimizer != groups[b].isOptimizer)
    return FusionDecision::forbid("the optimizer runs over all parameters at once");
  if (groups[a].chunk != groups[b].chunk)
    return FusionDecision::forbid("chunks are computed one after the other");
  SmallVector<Operation *> ops;
  std::merge(groups[a].ops.begin(), groups[a].ops.end(), groups[b].ops.begin(), groups[b].ops.end(),
             std::back_inserter(ops), [&](Operation *x, Operation *y) { return isBefore(x, y); });
  FusionDecision decision = mayBeOne(ops);
  if (!decision)
    return decision;
  if (!order.merge(groups[a].node, groups[b].node))
    return FusionDecision::forbid(
        "something between the two needs the one and is needed by the other");
  for (Operation *op : groups[a].ops)
    group[op] = b;
  groups[b].ops = std::move(ops);
  groups[a].ops.clear();
  return decision;
}

FusionDecision Groups::mergeAll() {
  SmallVector<Operation *> ops;
  for (const Group &each : groups)
    llvm::append_range(ops, each.ops);
  llvm::sort(ops, [&](Operation *a, Operation *b) { return isBefore(a, b); });
  FusionDecision decision = mayBeOne(ops);
  if (!decision)
    return decision;
  for (Group &each : groups)
    each.ops.clear();
  for (Operation *op : ops)
    group[op] = 0;
  groups.front().ops = std::move(ops);
  return decision;
}

void Groups::add(Operation *op, Operation *original, int64_t to) {
  parts[op] = partOf(original);
  position[op] = position.lookup(original);
  if (to < 0)
    return;
  group[op] = to;
  auto &ops = groups[to].ops;
  ops.insert(llvm::find_if(ops, [&](Operation *other) { return isBefore(op, other); }), op);
}

void Groups::forget(Operation *op) {
  parts.erase(op);
  position.erase(op);
  group.erase(op);
}

void Groups::remove(Operation *op) {
  auto it = group.find(op);
  llvm::erase(groups[it->second].ops, op);
  group.erase(it);
  position.erase(op);
}
