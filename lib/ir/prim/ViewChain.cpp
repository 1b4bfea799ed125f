// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/ViewChain.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

bool isView(Operation *op) { return isa_and_nonnull<TransposeOp, ReshapeOp>(op); }

} // namespace

ViewWalk::ViewWalk(ArrayRef<int64_t> shape) {
  for (auto [d, extent] : llvm::enumerate(shape)) {
    groups.push_back(extent != 1);
    if (extent == 1)
      continue;
    order.push_back(static_cast<int64_t>(factors.size()));
    factors.push_back(extent);
    dimensions.push_back(static_cast<int64_t>(d));
  }
}

void ViewWalk::permute(ArrayRef<int64_t> permutation) {
  SmallVector<size_t> begin = {0};
  for (size_t count : groups)
    begin.push_back(begin.back() + count);
  SmallVector<int64_t> newOrder;
  for (int64_t from : permutation)
    llvm::append_range(newOrder, ArrayRef(order).slice(begin[from], groups[from]));
  order = newOrder;
  SmallVector<size_t> counts;
  for (int64_t from : permutation)
    counts.push_back(groups[from]);
  groups = counts;
}

bool ViewWalk::reshape(ArrayRef<int64_t> shape) {
  SmallVector<size_t> counts;
  size_t at = 0;
  for (int64_t extent : shape) {
    size_t first = at;
    for (int64_t rest = extent; rest > 1; ++at) {
      int64_t factor = factors[order[at]];
      if (factor == 0)
        return false;
      if (rest % factor == 0) {
        rest /= factor;
      } else if (factor % rest == 0) {
        split(at, rest);
        rest = 1;
      } else {
        return false;
      }
    }
    counts.push_back(at - first);
  }
  groups = counts;
  return true;
}

bool ViewWalk::slice(ArrayRef<int64_t> shape) {
  size_t at = 0;
  for (auto [extent, count] : llvm::zip_equal(shape, groups)) {
    int64_t all = 1;
    for (int64_t which : ArrayRef(order).slice(at, count))
      all *= factors[which];
    if (all != extent && count != 1)
      return false;
    if (all != extent)
      factors[order[at]] = extent;
    if (all != extent && extent == 1) {
      erase(at);
      count = 0;
    }
    at += count;
  }
  return true;
}

bool ViewWalk::pass(Operation *view) {
  if (auto transpose = dyn_cast<TransposeOp>(view))
    return permute(transpose.getPermutation()), true;
  ArrayRef<int64_t> shape =
      isa<ReshapeOp, SliceOp>(view) ? shapeOf(view->getResult(0)) : ArrayRef<int64_t>();
  return isa<SliceOp>(view) ? slice(shape) : isa<ReshapeOp>(view) && reshape(shape);
}

/// The factor at that place of the order into `outer` and the rest.
void ViewWalk::split(size_t at, int64_t outer) {
  int64_t which = order[at];
  for (int64_t &each : order)
    each += each > which;
  order.insert(order.begin() + at + 1, which + 1);
  factors.insert(factors.begin() + which + 1, factors[which] / outer);
  factors[which] = outer;
  dimensions.insert(dimensions.begin() + which, dimensions[which]);
}

/// The factor at that place of the order, which is a part of another, or of one element.
void ViewWalk::erase(size_t at) {
  int64_t which = order[at];
  factors.erase(factors.begin() + which);
  dimensions.erase(dimensions.begin() + which);
  order.erase(order.begin() + at);
  for (int64_t &each : order)
    each -= each > which;
}

void ViewWalk::joinFactors() {
  for (size_t at = 1; at < order.size();) {
    int64_t a = order[at - 1], b = order[at];
    if (b != a + 1 || dimensions[a] != dimensions[b]) {
      ++at;
      continue;
    }
    factors[a] *= factors[b];
    erase(at);
  }
}

bool ViewChain::splits() const {
  return std::adjacent_find(dimensions.begin(), dimensions.end()) != dimensions.end();
}

/// Of the source's dimensions, or of its factors where some are split.
SmallVector<int64_t> ViewChain::permutation() const {
  if (splits())
    return order;
  SmallVector<int64_t> result;
  for (auto [d, extent] : llvm::enumerate(shapeOf(source)))
    if (extent == 1)
      result.push_back(static_cast<int64_t>(d));
  llvm::append_range(result, applyPermutation(ArrayRef<int64_t>(dimensions), order));
  return result;
}

SmallVector<int64_t> ViewChain::permutedShape() const {
  return applyPermutation(splits() ? ArrayRef<int64_t>(factors) : shapeOf(source), permutation());
}

size_t ViewChain::opsNeeded() const {
  if (!permutes())
    return ArrayRef<int64_t>(shape) != shapeOf(source);
  return splits() + 1 + (permutedShape() != shape);
}

Tensor ViewChain::build(OpBuilder &builder, Location loc) const {
  Tensor x(builder, loc, source);
  if (permutes())
    x = (splits() ? x.reshape(factors) : x).transpose(permutation());
  return x.reshape(shape);
}

ViewChain prim::followViews(Value value, bool isPrivate) {
  SmallVector<Operation *> views; // the last one first
  for (Operation *op = value.getDefiningOp(); isView(op); op = op->getOperand(0).getDefiningOp()) {
    if (isPrivate && !views.empty() && !op->hasOneUse())
      break;
    views.push_back(op);
  }
  if (views.empty() || llvm::is_contained(shapeOf(value), 0))
    return {};
  // The less of it there is, the larger are the dimensions that it begins with, which have factors
  // that theirs had not.
  for (auto rest = ArrayRef(views); !rest.empty(); rest = rest.drop_back()) {
    Value source = rest.back()->getOperand(0);
    ViewWalk walk(shapeOf(source));
    if (!llvm::all_of(llvm::reverse(rest), [&](Operation *view) { return walk.pass(view); }))
      continue;
    walk.joinFactors();
    return {source,          rest.size(), walk.factors,
            walk.dimensions, walk.order,  SmallVector<int64_t>(shapeOf(value))};
  }
  return {};
}
