// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/PlacesInLines.h"

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

/// The extent in which the places that an op gives lie.
std::optional<int64_t> extentOf(Value place) {
  Value source = withoutReshapes(place);
  if (auto sort = source.getDefiningOp<prim::SortOp>(); sort && source == sort.getIndices())
    return sort.getExtent();
  if (auto arg = source.getDefiningOp<prim::ArgReduceOp>())
    return typeOf(arg.getOperand()).getDimSize(static_cast<unsigned>(arg.getDimension()));
  return std::nullopt;
}

/// `factor` times `value`.
struct Term {
  Value value;
  int64_t factor;
};

/// The terms of a sum of products with numbers; none where it is something else.
std::optional<SmallVector<Term>> termsOf(Value sum) {
  SmallVector<Term> terms;
  SmallVector<Value> pending{sum};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (auto add = value.getDefiningOp<prim::AddOp>()) {
      pending.push_back(add.getLhs());
      pending.push_back(add.getRhs());
    } else if (auto product = value.getDefiningOp<prim::MulOp>()) {
      if (std::optional<int64_t> right = splatInteger(product.getRhs()))
        terms.push_back({product.getLhs(), *right});
      else
        return std::nullopt;
    } else {
      terms.push_back({value, 1});
    }
  }
  return terms;
}

} // namespace

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
    if (auto iota = term.value.getDefiningOp<prim::IotaOp>()) {
      dimension.from = static_cast<int64_t>(iota.getDimension());
      // One position along two dimensions is a diagonal.
      if (llvm::any_of(found.data, [&](const auto &other) { return other.from == dimension.from; }))
        return std::nullopt;
      if (typeOf(iota).getDimSize(static_cast<unsigned>(*dimension.from)) > dimension.extent)
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
