// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of what a mask selects.
#include "frontend/aten/Selection.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Einsum.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::aten;

/// Matrices of which the mask selects rows of the left one, columns of the right one, both of those
/// along which they are multiplied, or pairs.
static bool giveProduct(SelectedCall &call, StringRef left, StringRef right,
                        const MutableTensor *added = nullptr) {
  const auto *a = call.argument<Selection>(left), *b = call.argument<Selection>(right);
  std::optional<int64_t> rows = call.rankOf(left), columns = call.rankOf(right);
  if (!rows || !columns || (!a && !b))
    return false;
  auto giveAlong = [&](int64_t dim) {
    return call.giveForElements([&](int64_t) { return std::optional(dim); });
  };
  if (!b)
    return (*columns <= 2 && call.giveAlike(left, 1)) ||
           (*columns <= *rows && a->dim == *rows - 2 && giveAlong(a->dim));
  if (!a)
    return *rows <= std::max<int64_t>(*columns, 2) && *columns > 1 && b->dim == *columns - 1 &&
           call.giveForElements([](int64_t rank) { return std::optional(rank - 1); });
  if (*rows == *columns && a->dim == b->dim && a->dim < *rows - 2)
    return giveAlong(a->dim);
  bool isInner = a->dim == *rows - 1 && b->dim == std::max<int64_t>(0, *columns - 2);
  if (!isInner)
    return false;
  // Both, as 0 times an infinity or NaN, which elements have where nothing is selected, is NaN.
  SelectedCall::Arguments arguments = call.withElements(left, call.filled(*a, int64_t(0)));
  replace(arguments, right, call.filled(*b, int64_t(0)));
  if (added)
    replace(arguments, "self", *added); // which is there where nothing is selected, too
  return call.giveCall(arguments);
}

bool selected::product(SelectedCall &call) {
  for (StringRef other : {"other", "mat2", "tensor", "vec"})
    if (call.isGiven(other))
      return giveProduct(call, "self", other);
  return false;
}

bool selected::addedProduct(SelectedCall &call) {
  const auto *added = call.argument<MutableTensor>("self");
  return added && *added && added->rank() == 1 && giveProduct(call, "mat1", "mat2", added);
}

/// The dimension of the mask has one label, which the result keeps or which is summed over.
bool selected::sumOfProducts(SelectedCall &call) {
  const auto *equation = call.argument<std::string>("equation");
  const auto *list = call.argument<Selections>("tensors");
  if (!equation || !list)
    return false;
  auto ranks = llvm::map_to_vector(*list, [](const Selection &each) { return each.rank(); });
  frontend::EinsumLabels labels = frontend::einsumLabels(*equation, ranks);
  std::optional<int> along;
  for (auto [each, names] : llvm::zip_equal(*list, labels.operands))
    if (each.mask && !along)
      along = names[static_cast<size_t>(each.dim)];
  MutableTensors filled;
  for (auto [each, names] : llvm::zip_equal(*list, labels.operands)) {
    // Elsewhere the label would stand for a tensor's own elements, or for a diagonal.
    bool fits = each.mask ? names[static_cast<size_t>(each.dim)] == *along &&
                                llvm::count(names, *along) == 1
                          : !llvm::is_contained(names, *along);
    if (!fits)
      return false;
    filled.push_back(each.mask ? call.filled(each, int64_t(0)) : each.elements);
  }
  auto *kept = llvm::find(labels.result, *along);
  int64_t dim = std::distance(labels.result.begin(), kept);
  if (kept != labels.result.end())
    return call.giveForElements([&](int64_t) { return std::optional(dim); });
  return call.giveCall(call.withElements("tensors", filled));
}

// ---- attention ----

/// Whether the mask's dimension is the one so far from the end, counted from 1.
static bool isAlong(const Selection *x, int64_t fromEnd) {
  return x && x->rank() - x->dim == fromEnd;
}

/// The mask of attention where keys are selected: those that are not have no part in it.
static std::optional<MutableTensor> maskOfKeys(SelectedCall &call, const Selection &keys) {
  MutableTensor flags = call.view(call.tensor(keys.mask), {1, keys.elements.shape()[keys.dim]});
  if (!call.isGiven("attn_mask"))
    return flags;
  const auto *given = call.argument<Selection>("attn_mask");
  if (!isAlong(given, 1))
    return std::nullopt;
  if (elementTypeOf(*given).isInteger(1))
    return call("logical_and", {{"self", given->elements}, {"other", flags}});
  return call.filled(*given, -std::numeric_limits<double>::infinity());
}

/// Whether the mask of attention has nothing along the queries and keys that are selected but what
/// is selected as they are.
static bool fitsMask(const SelectedCall &call, bool ofQueries, bool ofKeys) {
  if (!call.isGiven("attn_mask"))
    return true;
  const auto *selection = call.argument<Selection>("attn_mask");
  const auto *tensor = call.argument<MutableTensor>("attn_mask");
  ArrayRef<int64_t> shape = selection ? selection->elements.shape() : tensor->shape();
  bool isForAllQueries = shape.size() < 2 || shape[shape.size() - 2] == 1;
  if (!selection)
    return !ofKeys && isForAllQueries;
  return ofKeys ? isAlong(selection, 1) && (!ofQueries || isForAllQueries) : isAlong(selection, 2);
}

/// Samples or heads; queries; keys with their values; or both.
bool selected::attention(SelectedCall &call) {
  const auto *q = call.argument<Selection>("query"), *k = call.argument<Selection>("key"),
             *v = call.argument<Selection>("value"), *mask = call.argument<Selection>("attn_mask");
  bool isOfSamples = llvm::none_of(std::array{q, k, v, mask}, [](const Selection *each) {
    return isAlong(each, 1) || isAlong(each, 2);
  });
  if (isOfSamples)
    return call.isAligned() && call.giveForElements();
  constexpr int64_t rows = 2;
  bool ofQueries = isAlong(q, rows), ofKeys = isAlong(k, rows) && isAlong(v, rows);
  const auto *isCausal = call.argument<bool>("is_causal");
  // A causal mask is of places among what is selected, as it is of all where both are.
  if ((q && !ofQueries) || ((k || v) && !ofKeys) || (isCausal && *isCausal && ofQueries != ofKeys))
    return false;
  if (!fitsMask(call, ofQueries, ofKeys))
    return false;
  SelectedCall::Arguments arguments = call.withElements();
  if (ofKeys) {
    std::optional<MutableTensor> ofAll = maskOfKeys(call, *k);
    if (!ofAll)
      return false;
    replace(arguments, "key", call.filled(*k, int64_t(0)));
    replace(arguments, "value", call.filled(*v, int64_t(0)));
    llvm::erase_if(arguments, [](const NamedLocal &each) { return each.name == "attn_mask"; });
    arguments.push_back({"attn_mask", *ofAll});
  }
  if (!ofQueries)
    return call.giveCall(arguments);
  return call.giveSelections(arguments, [](int64_t rank) { return std::optional(rank - rows); });
}
