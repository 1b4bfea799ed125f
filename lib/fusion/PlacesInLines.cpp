// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/PlacesInLines.h"

#include "fusion/Counts.h"
#include "ir/prim/IntegerBounds.h"
#include "ir/prim/Tensor.h"

using namespace mlir;
using namespace accc;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Value withoutReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<prim::ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

std::optional<int64_t> splatInteger(Value value) {
  std::optional<double> number = prim::splatNumber(value);
  return number ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

/// The limit of a comparison `value` < limit or, with `direction` ge, `value` >= limit.
std::optional<int64_t> limitOf(Value condition, Value value, prim::Direction direction) {
  auto compare = condition.getDefiningOp<prim::CompareOp>();
  if (!compare || compare.getDirection() != direction || compare.getLhs() != value)
    return std::nullopt;
  return splatInteger(compare.getRhs());
}

/// The extent in which `value` lies where the condition holds: 0 <= value < extent.
std::optional<int64_t> extentWhere(Value condition, Value value) {
  auto both = condition.getDefiningOp<prim::AndOp>();
  if (!both)
    return std::nullopt;
  for (auto [low, high] :
       {std::pair(both.getLhs(), both.getRhs()), std::pair(both.getRhs(), both.getLhs())})
    if (limitOf(low, value, prim::Direction::ge) == 0)
      if (std::optional<int64_t> extent = limitOf(high, value, prim::Direction::lt))
        return extent;
  return std::nullopt;
}

/// The extent in which places that need no guard lie.
std::optional<int64_t> extentOf(Value place) {
  std::optional<prim::IntegerBounds> bounds = prim::boundsOf(place);
  return bounds && bounds->low >= 0 ? std::optional(bounds->high + 1) : std::nullopt;
}

/// `factor` times `value`, or times the index along dimension `counts` where that is not null.
struct Term {
  Value value;
  int64_t factor;
  std::optional<int64_t> counts;
};

/// The terms of a sum of products with numbers; none where it is something else.
std::optional<SmallVector<Term>> termsOf(Value sum) {
  SmallVector<Term> terms;
  SmallVector<std::pair<Value, int64_t>> pending{{sum, 1}};
  while (!pending.empty()) {
    auto [value, factor] = pending.pop_back_val();
    if (std::optional<SmallVector<int64_t>> steps = stepsOf(value)) {
      for (auto [d, step] : llvm::enumerate(*steps)) {
        int64_t times = 0;
        if (llvm::MulOverflow(step, factor, times))
          return std::nullopt;
        if (step != 0)
          terms.push_back({value, times, static_cast<int64_t>(d)});
      }
    } else if (auto add = value.getDefiningOp<prim::AddOp>()) {
      pending.push_back({add.getLhs(), factor});
      pending.push_back({add.getRhs(), factor});
    } else if (auto product = value.getDefiningOp<prim::MulOp>()) {
      std::optional<int64_t> right = splatInteger(product.getRhs());
      if (!right || llvm::MulOverflow(factor, *right, factor))
        return std::nullopt;
      pending.push_back({product.getLhs(), factor});
    } else {
      terms.push_back({value, factor, std::nullopt});
    }
  }
  return terms;
}

} // namespace

// The places of whole sorted lines, one of each line of the data. Lines may have the same places.
bool PlacesInLines::isPermutation() const {
  auto broadcast = place.getDefiningOp<prim::BroadcastOp>();
  Value sorted = broadcast ? broadcast.getOperand() : place;
  auto sort = sorted.getDefiningOp<prim::SortOp>();
  if (!sort || sorted != sort.getIndices() || sort.getCount() != extent())
    return false;
  auto along = static_cast<size_t>(sort.getDimension());
  if (broadcast)
    along = static_cast<size_t>(broadcast.getDimensions()[along]);
  for (auto [d, count] : llvm::enumerate(typeOf(place).getShape())) {
    auto counts = [d = static_cast<int64_t>(d)](const Dimension &other) { return other.from == d; };
    const auto *line = llvm::find_if(data, counts);
    int64_t wanted = line == data.end() ? 1 : line->extent;
    if (count != (d == along ? extent() : wanted))
      return false;
  }
  return true;
}

int64_t PlacesInLines::extent() const {
  return llvm::find_if(data, [](const Dimension &d) { return !d.from; })->extent;
}

int64_t PlacesInLines::updates() const {
  int64_t updates = typeOf(place).getNumElements();
  for (const Dimension &dimension : data)
    if (dimension.from)
      updates /= typeOf(place).getDimSize(static_cast<unsigned>(*dimension.from));
  return updates;
}

std::optional<PlacesInLines> accc::findPlaces(Value indices, int64_t elements) {
  Value sum = withoutReshapes(indices);
  auto guarded = sum.getDefiningOp<prim::SelectOp>();
  if (guarded) {
    if (splatInteger(guarded.getOnFalse()) != -1)
      return std::nullopt;
    sum = guarded.getOnTrue();
  }
  std::optional<SmallVector<Term>> terms = termsOf(sum);
  if (!terms || typeOf(indices).getNumElements() == 0)
    return std::nullopt;
  llvm::sort(*terms, [](const Term &a, const Term &b) { return a.factor > b.factor; });
  // As digits of a number the terms are the dimensions of the data, the last of which has factor 1.
  PlacesInLines found;
  found.mayBeOutside = guarded != nullptr;
  std::optional<int64_t> extent;
  int64_t rest = elements;
  for (const Term &term : *terms) {
    if (term.factor <= 0 || rest % term.factor != 0)
      return std::nullopt;
    PlacesInLines::Dimension dimension{rest / term.factor, std::nullopt};
    rest = term.factor;
    if (term.counts) {
      dimension.from = term.counts;
      // One position along two dimensions is a diagonal.
      if (llvm::any_of(found.data, [&](const auto &other) { return other.from == dimension.from; }))
        return std::nullopt;
      if (typeOf(term.value).getDimSize(static_cast<unsigned>(*term.counts)) > dimension.extent)
        return std::nullopt;
    } else if (found.place) {
      return std::nullopt;
    } else {
      found.place = term.value;
      extent = guarded ? extentWhere(guarded.getPredicate(), term.value) : extentOf(term.value);
      if (!extent || *extent > dimension.extent)
        return std::nullopt;
    }
    found.data.push_back(dimension);
  }
  if (!found.place || rest != 1)
    return std::nullopt;
  return found;
}

prim::Tensor accc::byLine(prim::Tensor x, const PlacesInLines &places) {
  SmallVector<int64_t> permutation, extents;
  for (const PlacesInLines::Dimension &dimension : places.data)
    if (dimension.from) {
      permutation.push_back(*dimension.from);
      extents.push_back(x.dim(*dimension.from));
    }
  int64_t updates = 1;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (!llvm::is_contained(permutation, d)) {
      updates *= x.dim(d);
      permutation.push_back(d);
    }
  extents.push_back(updates);
  SmallVector<int64_t> moved; // of more than one element
  for (int64_t d : permutation)
    if (x.dim(d) > 1)
      moved.push_back(d);
  return (llvm::is_sorted(moved) ? x : x.transpose(permutation)).reshape(extents);
}

bool accc::reportsElsewhere(prim::ScatterOp scatter) {
  return llvm::any_of(scatter.getIndices().getUsers(),
                      [](Operation *user) { return isa<prim::GatherOp>(user); });
}
