// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Passes.h"
#include "ir/prim/Prim.h"
#include "support/ExchangeOrder.h"
#include "support/SortBlock.h"
#include "support/TensorBytes.h"
#include "target/TargetedPass.h"

#include "mlir/IR/TypeUtilities.h"

namespace accc {
#define GEN_PASS_DEF_COMBINECOLLECTIVESPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;

static SmallVector<std::pair<Operation *, Operation *>> neighbours(ArrayRef<Operation *> sent);

namespace {
/// The collectives of a block, and where it has what they send.
class Combiner {
public:
  Combiner(Block &block, int64_t bucketBytes) : block(block), bucketBytes(bucketBytes) {
    for (Operation &op : block.without_terminator())
      position[&op] = static_cast<int64_t>(position.size());
  }

  void run() {
    findFollowed();
    takeNumbers();
    for (Operation *op : inOrderOfSending())
      add(op);
    SmallVector<Operation *> sent;
    for (Bucket &bucket : buckets)
      sent.push_back(combine(bucket));
    sortBlock(block, ranks(), neighbours(sent));
  }

private:
  /// What becomes one collective: the ops and what they send.
  struct Bucket {
    SmallVector<Operation *> members;
    int64_t bytes = 0;
  };
  /// What two collectives have in common that can become one: the op, its attributes and the
  /// elements' type.
  using Sort = std::tuple<OperationName, DictionaryAttr, Type>;

  SmallVector<Operation *> inOrderOfSending();
  void findFollowed();
  void takeNumbers();
  void add(Operation *op);
  Operation *combine(Bucket &bucket);
  int64_t readyAt(Value value) const;
  int64_t readyAt(Operation *op) const;
  DenseMap<Operation *, int64_t> ranks() const;

  Block &block;
  int64_t bucketBytes;
  DenseMap<Operation *, int64_t> position;
  DenseMap<Operation *, int64_t> number; // kExchangeAttr of a collective
  DenseSet<Operation *> followed;        // by a collective that waits for the op
  std::vector<Bucket> buckets;
  std::vector<std::pair<Sort, size_t>> open; // the last bucket of each sort
};
} // namespace

static bool isCollective(Operation *op) { return op->hasTrait<Collective>(); }

/// A place in its operand's memory: what is left of these ops outside of kernels.
static bool isAlias(Operation *op) { return isa<prim::ReshapeOp, prim::SliceOp>(op); }

/// The position of the op that computes the value, -1 for an argument.
int64_t Combiner::readyAt(Value value) const {
  Operation *op = value.getDefiningOp();
  while (op && isAlias(op))
    op = op->getOperand(0).getDefiningOp();
  return op ? position.lookup(op) : -1;
}

int64_t Combiner::readyAt(Operation *op) const {
  int64_t at = -1;
  for (Value operand : op->getOperands())
    at = std::max(at, readyAt(operand));
  return at;
}

/// Where a pass has made a collective anew, or a test has it alone, the op's place is its number.
void Combiner::takeNumbers() {
  for (Operation &op : block.without_terminator()) {
    if (!isCollective(&op))
      continue;
    auto given = op.getAttrOfType<IntegerAttr>(kExchangeAttr);
    number[&op] = given ? given.getInt() : position.lookup(&op);
    op.removeAttr(kExchangeAttr);
  }
}

/// What others wait for as the model computes it, then the rest from the last: the backward pass
/// has the gradients of the last parameters first. When kernels compute it does not decide:
/// processes with batches of other sizes run others, and exchange the same. Only where a kernel
/// computes what one waits for with what waits for a later one is that later one sent before.
SmallVector<Operation *> Combiner::inOrderOfSending() {
  SmallVector<Operation *> all;
  DenseMap<Operation *, int64_t> latest; // number on the way to an op
  for (Operation &op : block.without_terminator()) {
    int64_t before = -1;
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        before = std::max(before, latest.find(producer)->second);
    if (isCollective(&op)) {
      number[&op] = before = std::max(before, number[&op]);
      all.push_back(&op);
    }
    latest[&op] = before;
  }
  auto order = [&](Operation *op) {
    return followed.contains(op) ? std::tuple(0, number.lookup(op), position.lookup(op))
                                 : std::tuple(1, -number.lookup(op), position.lookup(op));
  };
  llvm::sort(all, [&](Operation *a, Operation *b) { return order(a) < order(b); });
  return all;
}

void Combiner::findFollowed() {
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (llvm::any_of(op.getUsers(), [&](Operation *user) {
          return isCollective(user) || followed.contains(user);
        }))
      followed.insert(&op);
}

void Combiner::add(Operation *op) {
  if (followed.contains(op)) {
    buckets.push_back({{op}});
    return;
  }
  Sort sort(op->getName(), op->getAttrDictionary(), getElementTypeOrSelf(op->getOperand(0)));
  auto known = llvm::find_if(open, [&](const auto &each) { return each.first == sort; });
  bool isFirst = known == open.end();
  size_t &at = isFirst ? open.emplace_back(sort, buckets.size()).second : known->second;
  if (isFirst || buckets[at].bytes >= bucketBytes) {
    at = buckets.size();
    buckets.emplace_back();
  }
  Bucket &bucket = buckets[at];
  bucket.members.push_back(op);
  for (Value operand : op->getOperands())
    bucket.bytes += tensorBytes(operand);
}

Operation *Combiner::combine(Bucket &bucket) {
  Operation *last = bucket.members.back(); // to send
  if (bucket.members.size() == 1)
    return last;
  SmallVector<Value> inputs, outputs;
  SmallVector<Location> locations;
  int64_t at = 0;
  for (Operation *op : bucket.members) {
    at = std::max(at, position.lookup(op));
    llvm::append_range(inputs, op->getOperands());
    llvm::append_range(outputs, op->getResults());
    locations.push_back(op->getLoc());
  }
  OpBuilder b(last);
  OperationState state(b.getFusedLoc(locations), last->getName());
  state.addOperands(inputs);
  state.addAttributes(last->getAttrs());
  state.addTypes(ValueRange(outputs).getTypes());
  Operation *all = b.create(state);
  position[all] = at;
  for (auto [old, now] : llvm::zip_equal(outputs, all->getResults()))
    old.replaceAllUsesWith(now);
  for (Operation *op : bucket.members)
    op->erase();
  return all;
}

/// Those that a process could take for each other, which all make in one order.
static SmallVector<std::pair<Operation *, Operation *>> neighbours(ArrayRef<Operation *> sent) {
  using Kind = std::tuple<OperationName, DictionaryAttr, Type>;
  std::vector<std::pair<Kind, Operation *>> last; // of each kind
  SmallVector<std::pair<Operation *, Operation *>> pairs;
  for (Operation *op : sent) {
    Kind kind(op->getName(), op->getAttrDictionary(), getElementTypeOrSelf(op->getOperand(0)));
    auto known = llvm::find_if(last, [&](const auto &each) { return each.first == kind; });
    if (known == last.end()) {
      last.emplace_back(kind, op);
      continue;
    }
    pairs.emplace_back(known->second, op);
    known->second = op;
  }
  return pairs;
}

/// As things stand, but for collectives and places in memory: behind what computes these.
DenseMap<Operation *, int64_t> Combiner::ranks() const {
  DenseMap<Operation *, int64_t> ranks;
  auto count = static_cast<int64_t>(position.size()) + 1;
  for (Operation &op : block.without_terminator()) {
    int64_t at = position.lookup(&op);
    bool follows = isCollective(&op) || isAlias(&op);
    ranks[&op] = follows ? readyAt(&op) * count + 1 + at : at * count;
  }
  return ranks;
}

namespace {
struct CombineCollectivesPass
    : TargetedPass<accc::impl::CombineCollectivesPassBase<CombineCollectivesPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    Block &block = getOperation().front();
    if (llvm::any_of(block, [](Operation &op) { return isCollective(&op); }))
      Combiner(block, getTarget().getBucketBytes()).run();
  }
};
} // namespace
