// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/RecomputeInputs.h"

#include "fusion/AccessAnalysis.h"
#include "support/TensorBytes.h"

using namespace mlir;
using namespace accc;

namespace {
/// A value so many times smaller than another costs nothing beside it.
constexpr int64_t kMuchSmaller = 8;
/// More memory by this part of a value is no more: the mean that a centred value is computed from.
constexpr int64_t kLittle = 32;
/// Taking one value out of memory may make way for the next.
constexpr int kRounds = 3;

int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

/// Whether a kernel that reads the result can as well compute it of what the op reads: elementwise,
/// or at another place of which neighbours are neighbours there.
bool isCheap(Operation *op) {
  if (auto slice = dyn_cast<prim::SliceOp>(op))
    return slice.getStrides().empty() || slice.getStrides().back() == 1;
  return isa<Pointwise>(op);
}

/// How the readers of a value can do without it.
struct Recipe {
  Value value;
  llvm::SmallSetVector<int64_t, 4> readers;
  llvm::SetVector<Value> leaves, kept; // what it is computed from; what is to be written for that
  llvm::SetVector<Operation *> copied; // what every reader computes
};

class Recomputation {
public:
  Recomputation(Block &block, Groups &groups, const Target &target,
                function_ref<void(Operation *, Operation *)> note)
      : block(block), groups(groups), target(target), note(note) {}

  void run() {
    bool changed = true;
    for (int round = 0; changed && round < kRounds; ++round) {
      changed = false;
      // Backwards, so that what is computed from a value is a copy before the value is asked for.
      SmallVector<Operation *> ops;
      for (Operation &op : block.without_terminator())
        ops.push_back(&op);
      for (Operation *op : llvm::reverse(ops))
        if (groups.groupOf(op) >= 0 && isCheap(op))
          changed |= consider(op->getResult(0));
    }
    for (Operation *op : dead) {
      groups.forget(op);
      op->erase();
    }
  }

private:
  bool isInMemory(Value value, int64_t group) const;
  Operation *lastReader(Value value) const;
  bool findReaders(Recipe &recipe) const;
  bool trace(Value value, bool keepSmall, Recipe &recipe, DenseSet<Value> &seen) const;
  bool isFree(const Recipe &recipe) const;
  bool takesAWalk(const Recipe &recipe) const;
  bool consider(Value value);
  bool apply(const Recipe &recipe);
  bool computedFrom(Value value, Value root) const;
  Value inReader(Value value, int64_t reader, const Recipe &recipe);
  void undo(ArrayRef<std::pair<OpOperand *, Value>> rewired);
  void discard(Operation *op);
  void eraseDead(Operation *op);

  Block &block;
  Groups &groups;
  const Target &target;
  function_ref<void(Operation *, Operation *)> note;
  using Key = std::pair<int64_t, Value>; // reader, what it computes again
  DenseMap<Key, Value> copies;
  DenseMap<Operation *, Key> keys;
  SmallVector<Operation *> made;     // by the last `apply`
  llvm::SetVector<Operation *> dead; // erased at the end, so that no address is used twice
};
} // namespace

/// True for what `group` reads and for what others read of it.
bool Recomputation::isInMemory(Value value, int64_t group) const {
  Operation *op = value.getDefiningOp();
  if (!op || groups.groupOf(op) != group)
    return true;
  return groups.anyUser(value, [&](Operation *user) { return groups.groupOf(user) != group; });
}

/// The op at which the last kernel stands that reads the value; null if it lives to the end.
Operation *Recomputation::lastReader(Value value) const {
  Operation *last = nullptr;
  bool returned = false;
  groups.forEachUser(value, [&](Operation *user) {
    int64_t group = groups.groupOf(user);
    Operation *at = group >= 0 ? groups.members(group).back() : user;
    returned |= at->hasTrait<OpTrait::IsTerminator>();
    if (!last || groups.isBefore(last, at))
      last = at;
  });
  return returned ? nullptr : last;
}

/// The kernels that read the value; false unless all that read it from memory are kernels.
bool Recomputation::findReaders(Recipe &recipe) const {
  Operation *op = recipe.value.getDefiningOp();
  int64_t producer = groups.groupOf(op);
  bool kernelsOnly = !groups.isOptimizer(producer);
  groups.forEachUser(recipe.value, [&](Operation *user) {
    int64_t reader = groups.groupOf(user);
    kernelsOnly &= reader >= 0 && !groups.isOptimizer(reader);
    if (reader != producer)
      recipe.readers.insert(reader);
  });
  return kernelsOnly && !recipe.readers.empty();
}

/// Collects what `value` is computed from, back to what lies in memory. Small values and reductions
/// are rather written than computed again.
bool Recomputation::trace(Value value, bool keepSmall, Recipe &recipe,
                          DenseSet<Value> &seen) const {
  if (!seen.insert(value).second)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !groups.comesAlong(op)) {
    int64_t producer = groups.groupOf(recipe.value.getDefiningOp());
    bool isSmall = elementsOf(value) * kMuchSmaller <= elementsOf(recipe.value);
    if (value != recipe.value && isInMemory(value, producer)) {
      recipe.leaves.insert(value);
      return true;
    }
    if (isSmall && (keepSmall || !isCheap(op))) {
      recipe.leaves.insert(value);
      recipe.kept.insert(value);
      return true;
    }
    if (!isCheap(op))
      return false;
    recipe.copied.insert(op);
  }
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return trace(operand, keepSmall, recipe, seen); });
}

/// Whether the producer walks rows that do not stay in registers once more to write the value,
/// which it cannot compute before it has reduced them.
bool Recomputation::takesAWalk(const Recipe &recipe) const {
  int64_t producer = groups.groupOf(recipe.value.getDefiningOp());
  auto isLong = [&](Operation *op) {
    auto reduction = dyn_cast<prim::ReduceOp>(op);
    return reduction && reduction.getOperand().getType() == recipe.value.getType() &&
           elementsOf(reduction.getOperand()) / std::max<int64_t>(1, elementsOf(reduction)) >
               target.getMaxRowElements();
  };
  auto isReduced = [&](Value leaf) {
    Operation *op = leaf.getDefiningOp();
    return op && groups.groupOf(op) == producer && elementsOf(leaf) < elementsOf(recipe.value);
  };
  return llvm::any_of(recipe.leaves, isReduced) && llvm::any_of(groups.members(producer), isLong);
}

bool Recomputation::isFree(const Recipe &recipe) const {
  // The leaves live longer, the value not at all. They are read where the value is computed, so
  // that what they live longer lies within what it lived.
  Operation *end = lastReader(recipe.value);
  int64_t longer = 0, traffic = -tensorBytes(recipe.value);
  for (Value leaf : recipe.leaves) {
    Operation *op = leaf.getDefiningOp();
    if (recipe.kept.contains(leaf)) {
      longer += tensorBytes(leaf);
      traffic += tensorBytes(leaf);
    } else if (op && !isa<prim::ConstantOp>(op)) {
      Operation *last = lastReader(leaf);
      if (last && groups.isBefore(last, end))
        longer += tensorBytes(leaf);
    }
  }
  if (takesAWalk(recipe))
    traffic -= tensorBytes(recipe.value);
  for (int64_t reader : recipe.readers) {
    traffic -= tensorBytes(recipe.value);
    for (Value leaf : recipe.leaves) {
      bool reads =
          groups.anyUser(leaf, [&](Operation *user) { return groups.groupOf(user) == reader; });
      traffic += reads ? 0 : tensorBytes(leaf);
    }
    for (Operation *op : recipe.copied)
      if (op->hasTrait<Expensive>() && !copies.contains({reader, op->getResult(0)}))
        traffic += target.getExpensiveOpBytes() * elementsOf(op->getResult(0));
  }
  return longer <= tensorBytes(recipe.value) + tensorBytes(recipe.value) / kLittle && traffic < 0;
}

bool Recomputation::consider(Value value) {
  if (elementsOf(value) < target.getCachedElements())
    return false;
  for (bool keepSmall : {true, false}) {
    Recipe recipe;
    recipe.value = value;
    DenseSet<Value> seen;
    if (!findReaders(recipe))
      return false;
    if (trace(value, keepSmall, recipe, seen) && isFree(recipe) && apply(recipe))
      return true;
  }
  return false;
}

/// True if `value` is `root`, or a reshape or broadcast of it.
bool Recomputation::computedFrom(Value value, Value root) const {
  if (value == root)
    return true;
  Operation *op = value.getDefiningOp();
  return op && groups.comesAlong(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
           return computedFrom(operand, root);
         });
}

/// What the reader uses in place of `value`. A copy stands behind its original, so that all that
/// may read it stands behind it.
Value Recomputation::inReader(Value value, int64_t reader, const Recipe &recipe) {
  Key key{reader, value};
  if (Value copy = copies.lookup(key))
    return copy;
  Operation *op = value.getDefiningOp();
  if (recipe.leaves.contains(value) || !op)
    return value;
  bool copied = recipe.copied.contains(op);
  if (!copied && !groups.comesAlong(op))
    return value;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(inReader(operand, reader, recipe));
  if (!copied && llvm::equal(operands, op->getOperands()))
    return value;
  Operation *copy = op->clone();
  copy->setOperands(operands);
  block.getOperations().insertAfter(op->getIterator(), copy);
  groups.add(copy, op, copied ? reader : -1);
  copies[key] = copy->getResult(0);
  keys[copy] = key;
  made.push_back(copy);
  return copy->getResult(0);
}

void Recomputation::undo(ArrayRef<std::pair<OpOperand *, Value>> rewired) {
  for (auto [use, old] : rewired)
    use->set(old);
  for (Operation *copy : made)
    discard(copy);
}

void Recomputation::discard(Operation *op) {
  if (auto it = keys.find(op); it != keys.end()) {
    copies.erase(it->second);
    keys.erase(it);
  }
  if (groups.groupOf(op) >= 0)
    groups.remove(op);
  op->dropAllReferences();
  dead.insert(op);
}

bool Recomputation::apply(const Recipe &recipe) {
  Operation *op = recipe.value.getDefiningOp();
  int64_t producer = groups.groupOf(op);
  made.clear();
  SmallVector<std::pair<OpOperand *, Value>> rewired;
  for (int64_t reader : recipe.readers)
    for (Operation *member : SmallVector<Operation *>(groups.members(reader)))
      for (OpOperand &use : member->getOpOperands())
        if (computedFrom(use.get(), recipe.value)) {
          rewired.push_back({&use, use.get()});
          use.set(inReader(use.get(), reader, recipe));
        }
  bool allowed =
      llvm::all_of(recipe.readers, [&](int64_t reader) { return groups.check(reader).allowed; });
  // A kernel that gives nothing any more vanishes.
  if (!groups.outputs(groups.members(producer)).empty())
    allowed &= groups.check(producer).allowed;
  if (!allowed) {
    undo(rewired);
    return false;
  }
  for (int64_t reader : recipe.readers)
    note(op, groups.members(reader).back());
  for (auto [use, old] : rewired)
    if (Operation *unread = old.getDefiningOp())
      eraseDead(unread);
  return true;
}

/// Erases an op that nothing reads, and what was there for it alone.
void Recomputation::eraseDead(Operation *op) {
  if (!op->use_empty() || dead.contains(op) || (groups.groupOf(op) < 0 && !groups.comesAlong(op)))
    return;
  SmallVector<Value> operands(op->getOperands());
  discard(op);
  for (Value operand : operands)
    if (Operation *producer = operand.getDefiningOp())
      eraseDead(producer);
}

void accc::recomputeInputs(Block &block, Groups &groups, const Target &target,
                           function_ref<void(Operation *, Operation *)> note) {
  Recomputation(block, groups, target, note).run();
}
