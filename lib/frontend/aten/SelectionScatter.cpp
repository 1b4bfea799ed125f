// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes at indices that a mask selects, along a dimension.
#include "frontend/aten/Selection.h"
#include "frontend/aten/SelectionRules.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;

/// Indices from 0 on, of which those that are out of range are greater than the extent.
static MutableTensor positive(const SelectedCall &call, const MutableTensor &indices,
                              int64_t extent) {
  auto compared = [&](StringRef op, const MutableTensor &x, int64_t bound) {
    return call(op, {{"self", x}, {"other", bound}});
  };
  MutableTensor wrapped = call("add.Scalar", {{"self", indices}, {"other", extent}});
  MutableTensor all = call(
      "where.self",
      {{"condition", compared("lt.Scalar", indices, 0)}, {"self", wrapped}, {"other", indices}});
  MutableTensor isOut = call("logical_or", {{"self", compared("lt.Scalar", all, 0)},
                                            {"other", compared("ge.Scalar", all, extent)}});
  return call("masked_fill.Scalar", {{"self", all}, {"mask", isOut}, {"value", extent + 1}});
}

MutableTensor selected::orBehind(const SelectedCall &call, const Selection &indices,
                                 int64_t extent) {
  return call.filled({positive(call, indices.elements, extent), indices.mask, indices.dim}, extent);
}

bool selected::giveOverwritten(SelectedCall &call, const MutableTensor &x, int64_t dim,
                               SelectedCall::Arguments arguments) {
  int64_t extent = x.shape()[dim];
  Integers shape(x.shape().begin(), x.shape().end());
  shape[static_cast<size_t>(dim)] = 1;
  MutableTensor more = call("new_zeros", {{"self", x}, {"size", shape}});
  replace(arguments, "self", call("cat", {{"tensors", MutableTensors{x, more}}, {"dim", dim}}));
  call.giveCall(arguments);
  MutableTensor result =
      call("slice.Tensor",
           {{"self", call.results.front()}, {"dim", dim}, {"start", int64_t(0)}, {"end", extent}});
  return call.give(call.op().inPlace ? call("copy_", {{"self", x}, {"src", result}}) : result);
}

bool selected::giveAdded(SelectedCall &call, const MutableTensor &x, StringRef parameter,
                         const Local &values) {
  SelectedCall::Arguments arguments = call.withElements(parameter, values);
  replace(arguments, "self", x);
  return call.giveCall(arguments);
}

/// Whether what is written, if it is no number, is selected as the indices are.
static bool hasSource(const SelectedCall &call, int64_t dim, StringRef parameter) {
  const auto *source = call.argument<Selection>(parameter);
  return source ? source->dim == dim : !call.isGiven(parameter);
}

/// Writes at the selected indices along a dimension of `self`.
static bool giveWrittenAlong(SelectedCall &call, int64_t dim) {
  const auto &x = *call.argument<MutableTensor>("self");
  const auto &index = *call.argument<Selection>("index");
  MutableTensor places = selected::orBehind(call, index, x.shape()[dim]);
  return selected::giveOverwritten(call, x, dim, call.withElements("index", places));
}

/// Adds what is selected with the indices along a dimension of `self`.
static bool giveAddedAlong(SelectedCall &call, int64_t dim, StringRef parameter) {
  const auto *source = call.argument<Selection>(parameter);
  return source && source->dim == dim &&
         selected::giveAdded(call, *call.argument<MutableTensor>("self"), parameter,
                             call.filled(*source, int64_t(0)));
}

// ---- slices ----

/// The dimension of x along which an operator writes at selected indices.
static std::optional<int64_t> writtenDim(const SelectedCall &call) {
  const auto *x = call.argument<MutableTensor>("self");
  const auto *index = call.argument<Selection>("index");
  const auto *dim = call.argument<int64_t>("dim");
  if (!x || !index || index->rank() != 1 || !dim)
    return std::nullopt;
  int64_t positive = *dim < 0 ? *dim + x->rank() : *dim;
  return positive >= 0 && positive < x->rank() ? std::optional(positive) : std::nullopt;
}

bool selected::addAlong(SelectedCall &call) {
  std::optional<int64_t> dim = writtenDim(call);
  return dim && giveAddedAlong(call, *dim, "source");
}

bool selected::writeAlong(SelectedCall &call) {
  std::optional<int64_t> dim = writtenDim(call);
  return dim && hasSource(call, *dim, "source") && giveWrittenAlong(call, *dim);
}

// ---- elements ----

/// The dimension along which an operator reads or writes at an index for each element, of which the
/// mask selects those along the same one.
static std::optional<int64_t> elementsDim(const SelectedCall &call) {
  const auto *x = call.argument<MutableTensor>("self");
  const auto *index = call.argument<Selection>("index");
  const auto *given = call.argument<int64_t>("dim");
  if (!x || !*x || !index || !given || index->rank() != x->rank())
    return std::nullopt;
  int64_t dim = *given < 0 ? *given + x->rank() : *given;
  return dim == index->dim ? std::optional(dim) : std::nullopt;
}

bool selected::addElements(SelectedCall &call) {
  std::optional<int64_t> dim = elementsDim(call);
  return dim && giveAddedAlong(call, *dim, "src");
}

bool selected::writeElements(SelectedCall &call) {
  std::optional<int64_t> dim = elementsDim(call);
  return dim && hasSource(call, *dim, "src") && giveWrittenAlong(call, *dim);
}

bool selected::readElements(SelectedCall &call) {
  std::optional<int64_t> dim = elementsDim(call);
  return dim && call.isOnlySelection() && call.giveForElements([&](int64_t) { return dim; });
}
