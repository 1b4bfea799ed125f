// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices that a mask selects: nonzero(mask), where(mask), y[mask].
#include "frontend/aten/Selection.h"
#include "frontend/aten/SelectionRules.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;

// ---- where a mask is true ----

/// [elements, dimensions]: where x is not 0, unless its value is known.
static std::optional<Selection> placesOf(SelectedCall &call, StringRef parameter) {
  const auto *x = call.argument<MutableTensor>(parameter);
  if (call.mask() || !x || !*x || x->rank() == 0 || call.isKnown(call.read(*x)) ||
      isComplex(x->type()))
    return std::nullopt;
  Type i1 = IntegerType::get(x->type().getContext(), 1);
  Integers shape(x->shape().begin(), x->shape().end());
  if (llvm::is_contained(shape, 0))
    return std::nullopt;
  MutableTensor mask = *x;
  if (!getElementTypeOrSelf(x->type()).isInteger(1))
    mask = call("ne.Scalar", {{"self", *x}, {"other", int64_t(0)}});
  MutableTensor all = call("ones", {{"size", shape}, {"dtype", i1}});
  return call.repeated({call("nonzero", {{"self", all}}), call.read(mask), 0});
}

bool selected::nonzero(SelectedCall &call) {
  std::optional<Selection> places = placesOf(call, "self");
  return places && call.give(*places);
}

/// The same as one list for each dimension.
static bool givePlaces(SelectedCall &call, StringRef parameter) {
  std::optional<Selection> places = placesOf(call, parameter);
  if (!places)
    return false;
  Selections along;
  for (int64_t d = 0; d < places->elements.shape().back(); ++d)
    along.push_back(
        {call("select.int", {{"self", places->elements}, {"dim", int64_t(1)}, {"index", d}}),
         places->mask, 0});
  return call.give(along);
}
bool selected::nonzeroVectors(SelectedCall &call) { return givePlaces(call, "self"); }
bool selected::whereTrue(SelectedCall &call) { return givePlaces(call, "condition"); }

// ---- reading ----

namespace {
/// Indices of one shape, along dimensions side by side.
struct Places {
  const Selections *all;
  /// The first dimension that has one, and how many have.
  int64_t first, count;

  const Selection &front() const { return (*all)[static_cast<size_t>(first)]; }
  ArrayRef<Selection> columns() const {
    return ArrayRef(*all).slice(static_cast<size_t>(first), static_cast<size_t>(count));
  }
};
} // namespace

static std::optional<Places> placesIn(const SelectedCall &call) {
  const auto *all = call.argument<Selections>("indices");
  if (!all)
    return std::nullopt;
  auto isThere = [](const Selection &each) { return bool(each.elements); };
  auto begin = llvm::find_if(*all, isThere);
  auto count = llvm::count_if(*all, isThere);
  Places places{all, std::distance(all->begin(), begin), count};
  // None stands in front of the indices, or behind.
  bool fits = llvm::all_of(llvm::make_range(begin, begin + count), [&](const Selection &each) {
    return each.mask && isa<IntegerType>(elementTypeOf(each)) &&
           !elementTypeOf(each).isInteger(1) && each.elements.shape() == begin->elements.shape() &&
           each.dim == begin->dim;
  });
  return fits ? std::optional(places) : std::nullopt;
}

/// x[mask] of indices that are all places of the mask; nothing for others.
static std::optional<Selection> readByMask(const SelectedCall &call, const Places &places) {
  const auto *x = call.argument<MutableTensor>("self");
  return x && arePlaces(call, places.columns()) ? call.select(*x, places.front().mask, places.first)
                                                : std::nullopt;
}

bool selected::readAtSelected(SelectedCall &call) {
  std::optional<Places> places = placesIn(call);
  if (std::optional<Selection> read = places ? readByMask(call, *places) : std::nullopt)
    return call.give(*read);
  return places && call.argument<MutableTensor>("self") && call.giveForElements([&](int64_t) {
    return std::optional(places->first + places->front().dim);
  });
}

bool selected::indexSelect(SelectedCall &call) {
  const auto *x = call.argument<Selection>("self");
  const auto *tensor = call.argument<MutableTensor>("self");
  const auto *dim = call.argument<int64_t>("dim");
  if (tensor && *tensor && dim && call.argument<Selection>("index"))
    return call.giveForElements(
        [&](int64_t rank) { return std::optional(*dim < 0 ? *dim + rank : *dim); });
  std::optional<Integers> dims = x ? call.dims(*x) : std::nullopt;
  return dims && call.isOnlySelection() && dims->front() != x->dim &&
         call.giveForElements([&](int64_t) { return std::optional(x->dim); });
}

// ---- writing ----

/// Whether there is a value for each of the places, in the same place, or one for all.
static bool fitsPlaces(const SelectedCall &call, int64_t first, const Selection &places,
                       int64_t rank, StringRef values) {
  int64_t behind = rank - (first + places.dim);
  if (const auto *selection = call.argument<Selection>(values))
    return selection->rank() - selection->dim == behind;
  const auto *tensor = call.argument<MutableTensor>(values);
  int64_t place = tensor && *tensor ? tensor->rank() - behind : 0;
  return tensor && *tensor && (place < 0 || tensor->shape()[place] == 1);
}

/// Values, with 0 for what is not selected.
static Local zeroed(const SelectedCall &call, const Selection &places, int64_t behind,
                    StringRef values) {
  if (const auto *selection = call.argument<Selection>(values))
    return call.filled(*selection, int64_t(0));
  Integers shape(static_cast<size_t>(behind), 1);
  shape.front() = places.elements.shape()[places.dim];
  MutableTensor isOut = call("logical_not", {{"self", call.view(call.tensor(places.mask), shape)}});
  return call(
      "masked_fill.Scalar",
      {{"self", *call.argument<MutableTensor>(values)}, {"mask", isOut}, {"value", int64_t(0)}});
}

/// Writes x[mask] = values for indices that are all places of the mask.
static bool giveByMask(SelectedCall &call, const MutableTensor &x, const Places &places) {
  const auto *values = call.argument<Selection>("values");
  const auto *accumulate = call.argument<bool>("accumulate");
  return values && arePlaces(call, places.columns()) &&
         selected::giveWritten(call, x, places.first, *values, accumulate && *accumulate);
}

bool selected::writeAtSelected(SelectedCall &call) {
  std::optional<Places> places = placesIn(call);
  const auto *x = call.argument<MutableTensor>("self");
  const auto *accumulate = call.argument<bool>("accumulate");
  if (!places || !x || places->first + places->count > x->rank())
    return false;
  if (giveByMask(call, *x, *places))
    return true;
  int64_t rank = x->rank() - places->count + places->front().rank();
  if (!fitsPlaces(call, places->first, places->front(), rank, "values"))
    return false;
  if (accumulate && *accumulate) {
    int64_t behind = rank - (places->first + places->front().dim);
    return selected::giveAdded(call, *x, "values", zeroed(call, places->front(), behind, "values"));
  }
  MutableTensors indices;
  for (const Selection &each : *places->all)
    indices.push_back(each.elements ? call.indices(each) : each.elements);
  indices[static_cast<size_t>(places->first)] =
      selected::orBehind(call, places->front(), x->shape()[places->first]);
  return selected::giveOverwritten(call, *x, places->first, call.withElements("indices", indices));
}
