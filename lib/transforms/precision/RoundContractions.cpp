// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/AddedBias.h"
#include "ir/prim/ContractionSide.h"
#include "ir/prim/Tensor.h"
#include "support/DeadCode.h"
#include "transforms/Passes.h"
#include "transforms/precision/Averages.h"
#include "transforms/precision/ExactReaders.h"

#include "llvm/ADT/DenseSet.h"

namespace accc {
#define GEN_PASS_DEF_ROUNDCONTRACTIONSPASS
#include "transforms/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

/// A product that adds nothing up: of positions and frequencies, say, of which bf16 cannot count
/// beyond 256. No library is faster at it with fewer bits.
bool isOuter(DotGeneralOp product) {
  ContractionSide side = ContractionSide::lhsOf(product);
  return llvm::all_of(side.contracting, [&](int64_t d) { return side.shape()[d] == 1; });
}

/// A contraction whose factors may be rounded.
bool isRoundable(Operation *op) {
  if (auto product = dyn_cast<DotGeneralOp>(op);
      product && (product.getFullPrecision() || isOuter(product)))
    return false;
  return isa<DotGeneralOp, ConvolutionLike, AttentionLike>(op) &&
         getElementTypeOrSelf(op->getOperand(0)).isF32();
}

/// Whether it shows all elements of its operand, none of them twice but in a broadcast.
bool keepsElements(Operation *op) { return isa<ReshapeOp, TransposeOp, BroadcastOp>(op); }

/// A parameter or another argument, perhaps as another shape.
bool isArgument(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getOperand();
  return isa<BlockArgument>(value);
}

class Rounding {
public:
  Rounding(Block &block, Type narrow) : block(block), narrow(narrow), exactReaders(block, narrow) {}

  void run() {
    findDependants();
    SmallVector<Operation *> contractions;
    for (Operation &op : block)
      if (isRoundable(&op))
        contractions.push_back(&op);
    for (Operation *op : contractions)
      round(op);
    for (auto barrier : llvm::make_early_inc_range(block.getOps<OptimizationBarrierOp>()))
      widenBehind(barrier);
  }

private:
  /// Finds the ops from which a value leads to a contraction.
  void findDependants() {
    for (Operation &op : llvm::reverse(block))
      if (isRoundable(&op) ||
          llvm::any_of(op.getUsers(), [&](Operation *user) { return leading.contains(user); }))
        leading.insert(&op);
  }
  bool leadsToContraction(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) { return leading.contains(user); });
  }

  void round(Operation *op);
  void roundAttention(AttentionLike op);
  void roundBias(AddedBias bias);
  void widenBehind(OptimizationBarrierOp barrier);
  Value rounded(OpBuilder &b, Value factor);
  Value roundedRoot(Value root);
  Value roundedFor(Value value, bool all) const;
  Value widened(OpBuilder &b, Value value) const;

  Block &block;
  Type narrow;
  const transforms::ExactReaders exactReaders;
  DenseSet<Operation *> leading;
  DenseMap<Value, Value> roots; // rounded, each once
};

} // namespace

Value Rounding::widened(OpBuilder &b, Value value) const {
  return Tensor(b, value.getLoc(), value).convert(b.getF32Type());
}

/// The value rounded where it is computed, and if wanted for all that read it.
Value Rounding::roundedFor(Value value, bool all) const {
  OpBuilder b(value.getContext());
  b.setInsertionPointAfterValue(value);
  Value rounded = Tensor(b, value.getLoc(), value).convert(narrow);
  if (all) {
    Value shown = widened(b, rounded);
    value.replaceAllUsesExcept(shown, rounded.getDefiningOp());
    transforms::divideAverages(value, shown);
  }
  return rounded;
}

/// The value rounded once. All read it so: then it is kept in 16 bits alone. But an
/// argument and a sum are more exact for others: what parameters are updated from, and what a
/// residual connection carries from layer to layer; and so is what others show that it is rounded.
/// A constant is one value by chance where several read that number, the optimizer perhaps.
Value Rounding::roundedRoot(Value root) {
  if (Value known = roots.lookup(root))
    return known;
  bool all = !isa<BlockArgument>(root) && !root.getDefiningOp<AddOp>() &&
             !root.getDefiningOp<ConstantOp>() && !exactReaders.has(root);
  return roots[root] = roundedFor(root, all);
}

/// The factor rounded, through the views that show it: of what was rounded already as that lies.
Value Rounding::rounded(OpBuilder &b, Value factor) {
  SmallVector<Operation *> views;
  std::optional<size_t> whole; // how many of them keep all elements
  Value root = factor;
  for (Operation *op; (op = root.getDefiningOp()) && (keepsElements(op) || isa<SliceOp>(op));
       root = op->getOperand(0)) {
    if (isa<SliceOp>(op) && !whole)
      whole = views.size();
    views.push_back(op);
  }
  Value value;
  auto convert = root.getDefiningOp<ConvertOp>();
  if (convert && getElementTypeOrSelf(convert.getOperand()) == narrow) {
    value = convert.getOperand();
  } else {
    if (whole) {
      root = views[*whole]->getResult(0);
      views.truncate(*whole);
    }
    value = roundedRoot(root);
  }
  for (Operation *view : llvm::reverse(views)) {
    Operation *made = b.clone(*view);
    made->setOperand(0, value);
    made->getResult(0).setType(cast<RankedTensorType>(view->getResult(0).getType()).clone(narrow));
    value = made->getResult(0);
  }
  return value;
}

/// Rounds the bias, and its sum with a product once, for all that read it: a library adds the one
/// and stores the other in 16 bits.
void Rounding::roundBias(AddedBias bias) {
  OpBuilder b(bias.addition);
  for (OpOperand &summand : bias.addition->getOpOperands())
    if (auto repeated = summand.get().getDefiningOp<BroadcastOp>();
        repeated && repeated.getOperand() == bias.row) {
      Value row = widened(b, roundedRoot(bias.row));
      Operation *made = b.clone(*repeated);
      made->setOperand(0, row);
      summand.set(made->getResult(0));
    }
  roundedFor(bias.addition.getResult(), /*all=*/true);
}

/// All but the statistics.
void Rounding::roundAttention(AttentionLike op) {
  auto backward = dyn_cast<AttentionBackwardOp>(*op);
  OpBuilder b(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(backward && operand == backward.getStats() ? operand : rounded(b, operand));
  Operation *made = b.clone(*op);
  made->setOperands(operands);
  for (auto [old, result] : llvm::zip_equal(op->getResults(), made->getResults())) {
    Value value = result;
    if (auto forward = dyn_cast<AttentionOp>(made); !forward || result != forward.getStats()) {
      result.setType(cast<RankedTensorType>(result.getType()).clone(narrow));
      value = widened(b, result);
    }
    old.replaceAllUsesWith(value);
  }
  op->erase();
}

void Rounding::round(Operation *op) {
  if (auto attention = dyn_cast<AttentionLike>(op))
    return roundAttention(attention);
  OpBuilder b(op);
  SmallVector<Value> factors;
  for (Value factor : op->getOperands())
    factors.push_back(rounded(b, factor));
  Operation *made = b.clone(*op);
  made->setOperands(factors);
  auto product = dyn_cast<DotGeneralOp>(made);
  bool isRead = leadsToContraction(op->getResult(0));
  std::optional<AddedBias> bias =
      product && isRead ? AddedBias::find(cast<DotGeneralOp>(op)) : std::nullopt;
  if (bias && !isArgument(bias->row))
    bias.reset();
  Value result = made->getResult(0);
  if (product && (!isRead || bias)) {
    product.setWideResult(true);
  } else {
    result.setType(cast<RankedTensorType>(result.getType()).clone(narrow));
    result = widened(b, result);
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  if (bias)
    roundBias(*bias);
}

/// The optimizer reads a gradient as it lies: widened before, it would be copied, as the optimizer
/// fuses with nothing before the barrier.
void Rounding::widenBehind(OptimizationBarrierOp barrier) {
  auto convert = barrier.getOperand().getDefiningOp<ConvertOp>();
  if (!convert || getElementTypeOrSelf(convert.getOperand()) != narrow)
    return;
  OpBuilder b(barrier);
  Value kept = b.create<OptimizationBarrierOp>(barrier.getLoc(), convert.getOperand());
  barrier.replaceAllUsesWith(widened(b, kept));
  barrier.erase();
}

namespace {
struct RoundContractionsPass : accc::impl::RoundContractionsPassBase<RoundContractionsPass> {
  using RoundContractionsPassBase::RoundContractionsPassBase;

  void runOnOperation() override {
    Block &block = getOperation().front();
    if (type != "bf16" && type != "f16") {
      emitError(getOperation().getLoc())
          << "--round-contractions rounds to bf16 and f16, not to " << type;
      return signalPassFailure();
    }
    Type narrow = BFloat16Type::get(&getContext());
    if (type == "f16")
      narrow = Float16Type::get(&getContext());
    Rounding(block, narrow).run();
    eraseDeadCode(block);
  }
};
} // namespace
