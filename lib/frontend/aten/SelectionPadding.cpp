// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What masks select, padded: to a size that does not depend on data where the padding takes the
// places that selected elements leave. And where there is a tensor with an element for each, which
// says how many are selected.
#include "frontend/aten/Selection.h"
#include "frontend/aten/SelectionRules.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;

/// The selected elements at these places, all others being at `total`, and `value` at the rest.
static MutableTensor placed(const SelectedCall &call, const Selection &selection,
                            const MutableTensor &places, int64_t total, const Local &value) {
  const auto &[elements, mask, dim] = selection;
  SmallVector<int64_t> shape(elements.shape());
  shape[dim] = total + 1;
  MutableTensor empty = call("full", {{"size", Integers(shape.begin(), shape.end())},
                                      {"fill_value", value},
                                      {"dtype", elementTypeOf(selection)}});
  MutableTensor all =
      call("index_copy", {{"self", empty}, {"dim", dim}, {"index", places}, {"source", elements}});
  return call("narrow", {{"self", all}, {"dim", dim}, {"start", int64_t(0)}, {"length", total}});
}

/// Where each selected element is among these, and `otherwise` for others.
static MutableTensor placesOr(const SelectedCall &call, Value mask, int64_t otherwise) {
  MutableTensor places = call.placesAmong(mask);
  MutableTensor last = call("full_like", {{"self", places}, {"fill_value", otherwise}});
  return call("where.self", {{"condition", call.flags(mask)}, {"self", places}, {"other", last}});
}

MutableTensor selected::compact(const SelectedCall &call, const Selection &selection, int64_t total,
                                const Local &value) {
  // All others meet in one place more, which is cut off.
  return placed(call, selection, placesOr(call, selection.mask, total), total, value);
}

/// The places, or `outside`, which is out of range, where the mask does not select `total`
/// elements.
static MutableTensor checked(const SelectedCall &call, const MutableTensor &places, Value mask,
                             int64_t total, int64_t outside) {
  MutableTensor count = call("sum", {{"self", call.flags(mask)}});
  MutableTensor isOther = call("ne.Scalar", {{"self", count}, {"other", total}});
  MutableTensor all = call("full_like", {{"self", places}, {"fill_value", outside}});
  return call("where.self", {{"condition", isOther}, {"self", all}, {"other", places}});
}

MutableTensor selected::whole(const SelectedCall &call, const Selection &selection, int64_t total) {
  MutableTensor places = placesOr(call, selection.mask, total);
  places = checked(call, places, selection.mask, total, total + 1);
  return placed(call, selection, places, total, int64_t(0));
}

Selection selected::spread(const SelectedCall &call, const MutableTensor &x, Value mask,
                           int64_t dim) {
  int64_t total = x.shape()[dim];
  MutableTensor places = checked(call, placesOr(call, mask, 0), mask, total, total);
  MutableTensor all = call("index_select", {{"self", x}, {"dim", dim}, {"index", places}});
  return call.repeated({all, mask, dim});
}

Selection selected::first(const SelectedCall &call, const MutableTensor &x, Value mask,
                          int64_t dim) {
  MutableTensor places = placesOr(call, mask, 0); // of which those behind x are out of range
  MutableTensor all = call("index_select", {{"self", x}, {"dim", dim}, {"index", places}});
  return call.repeated({all, mask, dim});
}

/// With as many elements before and after the selected ones along their dimension.
static bool giveBetween(SelectedCall &call, const Selection &x, const Integers &pad,
                        std::array<int64_t, 2> around) {
  if (llvm::any_of(around, [](int64_t size) { return size < 0; }))
    return false;
  SelectedCall::Arguments arguments = call.withElements("pad", pad);
  if (around == std::array<int64_t, 2>{})
    return call.giveSelections(arguments, [&](int64_t) { return std::optional(x.dim); });
  call.giveCall(arguments);
  Type i1 = IntegerType::get(x.mask.getContext(), 1);
  auto ones = [&](int64_t size) { return call("ones", {{"size", Integers{size}}, {"dtype", i1}}); };
  MutableTensor flags = call(
      "cat", {{"tensors", MutableTensors{ones(around[0]), call.flags(x.mask), ones(around[1])}}});
  auto padded = std::get<MutableTensor>(call.results.front());
  return call.give(call.repeated({padded, call.read(flags), x.dim}));
}

bool selected::pad(SelectedCall &call) {
  const auto *x = call.argument<Selection>("self");
  const auto *known = call.argument<Integers>("pad");
  const auto *sizes = call.argument<SelectedSizes>("pad");
  const auto *mode = call.argument<std::string>("mode");
  if (!x || (!known && !sizes) || (mode && *mode != "constant"))
    return false;
  // From the last dimension on, before and after each.
  Integers pad = known ? *known : sizes->sizes;
  auto first = static_cast<size_t>(2 * (x->rank() - 1 - x->dim));
  if (known) {
    bool isAround = first + 1 < pad.size();
    std::array<int64_t, 2> around{isAround ? pad[first] : 0, isAround ? pad[first + 1] : 0};
    return call.hasOneMask() && giveBetween(call, *x, pad, around);
  }
  auto at = static_cast<size_t>(sizes->dim);
  std::optional<int64_t> total = sizeOfMasks(call, {x->mask, sizes->mask});
  if (at != first + 1 || pad[first] != 0 || !total)
    return false;
  pad[at] = 0;
  call.giveCall(call.withElements("pad", pad));
  Selection padded{std::get<MutableTensor>(call.results.front()), x->mask, x->dim};
  const auto *value = call.argument<int64_t>("value");
  const auto *real = call.argument<double>("value");
  return call.give(
      compact(call, padded, *total, real ? Local(*real) : Local(value ? *value : int64_t(0))));
}
