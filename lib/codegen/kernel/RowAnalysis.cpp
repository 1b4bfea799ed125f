// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/kernel/RowAnalysis.h"

#include "ir/prim/Tensor.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

/// Finds how many values of an element are needed again in a later pass.
class LiveValues {
public:
  explicit LiveValues(const Reductions &r) : r(r) {}

  /// The most of them at a time, in registers of 32 bits.
  int64_t count() {
    size_t passes = r.levels.size() + 1;
    int64_t most = 0;
    for (size_t pass = 0; pass < passes; ++pass) {
      int64_t written = 0;
      if (pass < r.levels.size())
        for (prim::ReduceOp reduction : r.levels[pass])
          visit(reduction.getOperand(), pass);
      if (pass + 1 == passes)
        for (prim::ReduceOp column : r.columns)
          visit(column.getOperand(), pass);
      for (const Reductions::Output &output : r.outputs)
        if (output.full && output.depth == pass) {
          visit(output.value, pass);
          written += registersOf(output.value);
        }
      most = std::max(most, written);
    }
    for (size_t pass = 1; pass < passes; ++pass) {
      int64_t live = 0;
      for (auto [value, span] : spans)
        if (span.first < pass && span.second >= pass)
          live += registersOf(value);
      most = std::max(most, live);
    }
    return most;
  }

private:
  static int64_t registersOf(Value value) {
    return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() > 32 ? 2 : 1;
  }

  /// Whether the value is another for another element of a row.
  bool varies(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumOperands() == 0)
      return !isa_and_nonnull<prim::ConstantOp>(op);
    if (isa<prim::ReduceOp>(op))
      return false;
    auto [it, isNew] = varying.try_emplace(value, true);
    if (!isNew)
      return it->second;
    auto broadcast = dyn_cast<prim::BroadcastOp>(op);
    bool result = (!broadcast || followsReduced(broadcast)) &&
                  llvm::any_of(op->getOperands(), [&](Value operand) { return varies(operand); });
    return varying[value] = result;
  }

  bool followsReduced(prim::BroadcastOp op) const {
    prim::ReduceOp first = r.levels.front().front();
    ArrayRef<int64_t> space = first.getOperand().getType().getShape();
    ArrayRef<int64_t> extents = op.getOperand().getType().getShape();
    if (op.getType().getShape() != space)
      return true; // as far as one can tell
    return llvm::any_of(llvm::enumerate(op.getDimensions()), [&](auto each) {
      return extents[each.index()] != 1 && r.domain.reduced[each.value()];
    });
  }

  void visit(Value value, size_t pass) {
    if (!varies(value))
      return;
    auto [it, isNew] = spans.try_emplace(value, pass, pass);
    it->second.second = pass;
    if (isNew && value.getDefiningOp())
      for (Value operand : value.getDefiningOp()->getOperands())
        visit(operand, pass);
  }

  const Reductions &r;
  DenseMap<Value, bool> varying;
  llvm::MapVector<Value, std::pair<size_t, size_t>> spans; // the first and the last pass
};

/// m where `op` is m, or 0 if m is -inf; else null.
Value guardedMaximum(prim::SelectOp op) {
  auto compare = op.getPredicate().getDefiningOp<prim::CompareOp>();
  if (!compare || compare.getDirection() != prim::Direction::eq ||
      compare.getLhs() != op.getOnFalse() || prim::splatNumber(op.getOnTrue()) != 0.0 ||
      prim::splatNumber(compare.getRhs()) != -std::numeric_limits<double>::infinity())
    return {};
  return op.getOnFalse();
}

/// The exponential of which `value` is a multiple.
std::optional<OnlineSum> matchOnline(Value value, const Reductions &r, size_t level) {
  if (auto product = value.getDefiningOp<prim::MulOp>()) {
    bool left = r.depthOf(product.getRhs()) <= level, right = r.depthOf(product.getLhs()) <= level;
    if (left == right)
      return std::nullopt;
    return matchOnline(left ? product.getLhs() : product.getRhs(), r, level);
  }
  auto exp = value.getDefiningOp<prim::ExpOp>();
  auto difference = exp ? exp.getOperand().getDefiningOp<prim::SubOp>() : nullptr;
  auto subtracted = difference ? difference.getRhs().getDefiningOp<prim::BroadcastOp>() : nullptr;
  if (!subtracted)
    return std::nullopt;
  Value shift = subtracted.getOperand();
  bool isGuarded = false;
  if (auto select = shift.getDefiningOp<prim::SelectOp>()) {
    isGuarded = true;
    shift = guardedMaximum(select);
  }
  auto maximum = shift ? shift.getDefiningOp<prim::ReduceOp>() : nullptr;
  if (!maximum || maximum.getKind() != prim::ReduceKind::max ||
      difference.getLhs() != maximum.getOperand() ||
      Reductions::accumulatorOf(maximum) != Reductions::elementOf(maximum))
    return std::nullopt;
  const auto *found = llvm::find(r.levels[level], maximum);
  if (found == r.levels[level].end())
    return std::nullopt;
  return OnlineSum{static_cast<size_t>(found - r.levels[level].begin()), exp, isGuarded};
}

} // namespace

SmallVector<OnlineSum> codegen::findOnlineSums(const Reductions &r, size_t level) {
  SmallVector<OnlineSum> sums;
  if (level + 1 >= r.levels.size() || r.hasFullOutput(level + 1))
    return {};
  for (prim::ReduceOp reduction : r.levels[level + 1]) {
    std::optional<OnlineSum> sum = matchOnline(reduction.getOperand(), r, level);
    if (!sum || reduction.getKind() != prim::ReduceKind::sum ||
        Reductions::accumulatorOf(reduction) !=
            Reductions::accumulatorOf(r.levels[level][sum->maximum]))
      return {};
    sums.push_back(*sum);
  }
  return sums;
}

int64_t codegen::countLiveRegisters(const Reductions &reductions) {
  const Domain &domain = reductions.domain;
  int64_t dims = 0;
  for (size_t i = 0; i < domain.extents.size(); ++i)
    dims += domain.reduced[i] && domain.extents[i] != 1;
  // Along one dimension elements lie at fixed distances.
  return LiveValues(reductions).count() + (dims > 1 ? 1 : 0);
}
