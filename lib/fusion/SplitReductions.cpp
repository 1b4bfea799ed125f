// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Passes.h"
#include "ir/prim/KernelReductions.h"
#include "ir/prim/Tensor.h"
#include "support/DeadCode.h"
#include "target/TargetedPass.h"

#include "llvm/ADT/SetVector.h"

namespace accc {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {

int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

/// What a reduction is split into: a part for each index of the outermost `whole` dimensions that
/// are reduced, and of each of these `cut` parts of the next one.
struct Parts {
  int64_t whole = 0, cut = 1;
  explicit operator bool() const { return whole > 0 || cut > 1; }
};

ReducedDimensions whichDimensions(ArrayRef<int64_t> dimensions, int64_t rank) {
  if (llvm::equal(dimensions, llvm::seq<int64_t>(0, static_cast<int64_t>(dimensions.size()))))
    return ReducedDimensions::Leading;
  return llvm::is_contained(dimensions, rank - 1) ? ReducedDimensions::Inner
                                                  : ReducedDimensions::Outer;
}

/// Of what is reduced along the dimensions to so many `columns`. None where there is nothing to
/// gain.
Parts chooseParts(RankedTensorType type, ArrayRef<int64_t> dimensions, int64_t columns,
                  const Target &target) {
  auto reduced = static_cast<int64_t>(dimensions.size());
  int64_t elements = type.getNumElements();
  std::optional<ReductionParts> wanted =
      target.getReductionParts(elements, columns, whichDimensions(dimensions, type.getRank()));
  bool isTruth = type.getElementType().isInteger(1);
  if (!wanted || (type.getElementTypeBitWidth() < 32 && !isTruth))
    return {}; // of fewer bits: what is accumulated is more than what is stored
  auto areLongEnough = [&](int64_t parts) {
    return elements / parts / columns >= wanted->leastRows;
  };
  Parts best;
  int64_t parts = 1, bestParts = 1;
  for (int64_t d = 0; d + 1 < reduced; ++d) {
    parts *= type.getDimSize(dimensions[d]);
    if (!areLongEnough(parts))
      break;
    if (parts >= wanted->least) {
      best.whole = d + 1;
      bestParts = parts;
    }
    if (parts >= wanted->enough && elements / parts <= wanted->enoughElements)
      break;
  }
  if (bestParts >= wanted->few)
    return best;
  // The dimension that makes them enough is cut.
  int64_t whole = 0, wholeParts = 1;
  while (whole + 1 < reduced && wholeParts * type.getDimSize(dimensions[whole]) < wanted->cutInto)
    wholeParts *= type.getDimSize(dimensions[whole++]);
  int64_t extent = reduced > 0 ? type.getDimSize(dimensions[whole]) : 0;
  for (int64_t cut = 2; cut <= extent && areLongEnough(wholeParts * cut); ++cut) {
    if (extent % cut != 0)
      continue;
    if (wholeParts * cut > bestParts && wholeParts * cut >= wanted->least) {
      best = {whole, cut};
      bestParts = wholeParts * cut;
    }
    if (bestParts >= wanted->cutInto)
      break;
  }
  return best;
}

/// Σ (x - mean)², where the mean is that of what is summed.
struct Deviations {
  Value x, mean, sum; // mean = sum / count
};

std::optional<Deviations> matchDeviations(prim::ReduceOp op) {
  auto square = op.getOperand().getDefiningOp<prim::MulOp>();
  if (!square || square.getLhs() != square.getRhs() || op.getKind() != prim::ReduceKind::sum)
    return std::nullopt;
  auto deviation = square.getLhs().getDefiningOp<prim::SubOp>();
  auto mean = deviation ? deviation.getRhs().getDefiningOp<prim::BroadcastOp>() : nullptr;
  auto scaled = mean ? mean.getOperand().getDefiningOp<prim::MulOp>() : nullptr;
  if (!scaled || mean.getOperand().getType() != op.getType())
    return std::nullopt;
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < mean.getType().getRank(); ++d)
    if (!llvm::is_contained(op.getDimensions(), d))
      kept.push_back(d);
  if (mean.getDimensions() != ArrayRef(kept))
    return std::nullopt;
  auto count = static_cast<double>(mean.getType().getNumElements() / op.getType().getNumElements());
  std::optional<double> factor = prim::splatNumber(scaled.getRhs());
  if (!factor || std::abs(*factor * count - 1.0) > 1e-6)
    return std::nullopt;
  return Deviations{deviation.getLhs(), mean.getOperand(), scaled.getLhs()};
}

/// The values of as many elements that `value` is computed from, itself the first.
void addSameSize(Value value, llvm::SetVector<Value> &values) {
  int64_t elements = elementsOf(value);
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i)
    if (Operation *op = values[i].getDefiningOp(); isa_and_nonnull<Pointwise, prim::ReshapeOp>(op))
      for (Value operand : op->getOperands())
        if (elementsOf(operand) == elements)
          values.insert(operand);
}

/// Whether the reduction, of all rows for each of their elements, can share a kernel with one of
/// each row: with one that is computed from the last to be known of what this one reads.
bool readsReducedRows(prim::ReduceOp op) {
  llvm::SetVector<Value> read;
  addSameSize(op.getOperand(), read);
  Operation *last = nullptr;
  Value leaf;
  for (Value value : read) {
    Operation *source = value.getDefiningOp();
    if (isa_and_nonnull<Pointwise, prim::ReshapeOp, prim::BroadcastOp, prim::IotaOp>(source))
      continue;
    if (!leaf || (source && (!last || last->isBeforeInBlock(source)))) {
      last = source;
      leaf = value;
    }
  }
  if (!leaf)
    return false;
  int64_t columns = op.getType().getNumElements();
  llvm::SetVector<Value> computed;
  computed.insert(leaf);
  for (size_t i = 0; i < computed.size(); ++i)
    for (Operation *user : computed[i].getUsers()) {
      auto reduction = dyn_cast<prim::ReduceOp>(user);
      if (reduction && prim::isAlongRows(reduction) &&
          reduction.getType().getNumElements() * columns == elementsOf(leaf))
        return true;
      if (isa<Pointwise, prim::ReshapeOp>(user))
        computed.insert(user->getResult(0));
    }
  return false;
}

/// How many rows a strip has where the reduction is done in such first; 0 if it is not.
int64_t rowsOfStrip(prim::ReduceOp op, const Target &target) {
  auto type = cast<RankedTensorType>(op.getOperand().getType());
  int64_t count = static_cast<int64_t>(op.getDimensions().size()),
          columns = op.getType().getNumElements();
  if (columns < 2 || type.getElementTypeBitWidth() < 32 ||
      !llvm::equal(op.getDimensions(), llvm::seq<int64_t>(0, count)) || matchDeviations(op))
    return 0;
  int64_t rows = target.getStripRows(type.getNumElements() / columns, columns);
  return rows > 0 && readsReducedRows(op) ? rows : 0;
}

struct SplitReductionsPass
    : TargetedPass<accc::impl::SplitReductionsPassBase<SplitReductionsPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    sums.clear();
    SmallVector<prim::ReduceOp> reductions;
    getOperation().walk([&](prim::ReduceOp op) { reductions.push_back(op); });
    for (prim::ReduceOp op : reductions) {
      Value result;
      if (int64_t rows = rowsOfStrip(op, getTarget()))
        result = splitIntoStrips(op, rows);
      else if (Parts parts = chooseParts(op.getOperand().getType(), op.getDimensions(),
                                         op.getType().getNumElements(), getTarget()))
        result = split(op, parts);
      else
        continue;
      op.replaceAllUsesWith(result);
      op.erase();
    }
    SmallVector<prim::ArgReduceOp> places;
    getOperation().walk([&](prim::ArgReduceOp op) { places.push_back(op); });
    for (prim::ArgReduceOp op : places) {
      auto dimension = static_cast<int64_t>(op.getDimension());
      Parts parts = chooseParts(op.getOperand().getType(), dimension, op.getType().getNumElements(),
                                getTarget());
      if (!parts)
        continue;
      op.replaceAllUsesWith(splitPlace(op, parts.cut));
      op.erase();
    }
    // Deviations from the whole mean, where those from the parts' means took their place.
    eraseDeadCode(getOperation().front());
  }

private:
  /// Of `rows` rows each, which a kernel that reduces each row finds as well.
  static Value splitIntoStrips(prim::ReduceOp op, int64_t rows) {
    OpBuilder builder(op);
    Tensor operand(builder, op.getLoc(), op.getOperand());
    int64_t columns = op.getType().getNumElements(), strips = operand.size() / columns / rows;
    Tensor partial = reduce(op.getKind(), operand.reshape({strips, rows, columns}), {1});
    return reduce(op.getKind(), partial, {0}).reshape(op.getType().getShape());
  }

  /// The first part of those with the extreme element, and its place there.
  static Value splitPlace(prim::ArgReduceOp op, int64_t cut) {
    OpBuilder builder(op);
    Tensor x(builder, op.getLoc(), op.getOperand());
    auto dimension = static_cast<int64_t>(op.getDimension());
    int64_t outer = ReferenceArray::count(x.shape().take_front(dimension)),
            inner = ReferenceArray::count(x.shape().drop_front(dimension + 1)),
            length = x.dim(dimension) / cut;
    auto placeIn = [&](Tensor lines) {
      return x.wrap(builder.create<prim::ArgReduceOp>(op.getLoc(), lines, op.getKind(), 1));
    };
    // Of [lines, extent, inner], what is at a place of each line: [lines, inner].
    auto at = [&](Tensor lines, Tensor place) {
      auto count = [&](int64_t d) { return prim::iota(builder, op.getLoc(), place.type(), d); };
      Tensor index =
          (count(0) * static_cast<double>(lines.dim(1)) + place) * static_cast<double>(inner) +
          count(1);
      return lines.reshape({lines.size()}).gather(index, 0);
    };
    Tensor parts = x.reshape({outer * cut, length, inner});
    Tensor place = placeIn(parts);
    Tensor part = placeIn(at(parts, place).reshape({outer, cut, inner}));
    Tensor placeInPart = at(place.reshape({outer, cut, inner}), part);
    return (part * static_cast<double>(length) + placeInPart).reshape(op.getType().getShape());
  }

  Value split(prim::ReduceOp op, Parts parts) {
    OpBuilder builder(op);
    Tensor operand(builder, op.getLoc(), op.getOperand());
    // The outer ones stand before all others, whose reduction leaves them where they are.
    SmallVector<int64_t> outer(op.getDimensions().take_front(parts.whole)),
        inner(op.getDimensions().drop_front(parts.whole)), shape(operand.shape());
    if (parts.cut > 1) {
      int64_t &extent = shape[inner.front()];
      extent /= parts.cut;
      shape.insert(&extent, parts.cut);
      outer.push_back(inner.front());
      for (int64_t &dimension : inner)
        ++dimension;
    }
    auto inParts = [&](Value x) { return operand.wrap(x).reshape(shape); };
    if (std::optional<Deviations> deviations = matchDeviations(op))
      if (auto it = sums.find(deviations->sum);
          it != sums.end() && it->second.operand == deviations->x && it->second.outer == outer &&
          it->second.inner == inner)
        return sumOfSquares(inParts(deviations->x), operand.wrap(it->second.partial),
                            operand.wrap(deviations->mean), outer, inner);
    Tensor partial = reduce(op.getKind(), inParts(operand), inner);
    Value total = reduce(op.getKind(), partial, outer);
    if (op.getKind() == prim::ReduceKind::sum)
      sums[total] = {operand, partial, outer, inner};
    return total;
  }

  // Σ (x - m)² is, over parts p of n elements with means m_p, Σ_p Σ (x - m_p)² + n Σ_p (m_p - m)²
  // (Chan, Golub, LeVeque 1979). So one kernel finds a part's mean and its deviations from it while
  // the part is in the cache, instead of a second walk over everything.
  static Value sumOfSquares(Tensor x, Tensor partialSum, Tensor mean, ArrayRef<int64_t> outer,
                            ArrayRef<int64_t> inner) {
    auto n = static_cast<double>(x.size() / partialSum.size());
    Tensor own = partialSum * (1.0 / n);
    Tensor within = x - own.broadcastAlong(x.shape(), inner);
    Tensor between = own - mean.broadcastAlong(own.shape(), outer);
    return sum(sum(within * within, inner), outer) + sum(between * between, outer) * n;
  }

  struct Sum {
    Value operand, partial;
    SmallVector<int64_t> outer, inner; // of the operand in parts: what each part is the sum along
  };
  DenseMap<Value, Sum> sums; // by their totals
};

} // namespace
