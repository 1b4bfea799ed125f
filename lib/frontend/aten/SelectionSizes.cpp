// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of what a mask selects.
#include "frontend/aten/Selection.h"
#include "frontend/aten/SelectionRules.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;

static int64_t productOf(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
}

bool selected::ofSizes(SelectedCall &call) {
  if (const auto *sizes = call.argument<SelectedSizes>("size"))
    return call.giveForElements([&](int64_t) { return std::optional(sizes->dim); });
  // new_zeros(x, [4, 5]), where x says the element type alone
  return call.mask() && call.argument<Integers>("size") && call.giveCall(call.withElements());
}

/// Of expand(x, [n, 5]), where n, the number of selected elements, is that of `dim` of so many
/// dimensions: x has the elements of the mask in the same place, one for all, or one for each.
static bool giveExpanded(SelectedCall &call, int64_t rank, int64_t dim) {
  int64_t behind = rank - dim;
  const auto *self = call.argument<Selection>("self");
  const auto *tensor = call.argument<MutableTensor>("self");
  auto inPlace = [&](int64_t) { return std::optional(dim); };
  if (!tensor || !*tensor)
    return self && self->rank() - self->dim == behind && call.giveForElements(inPlace);
  int64_t place = tensor->rank() - behind;
  if (place < 0 || tensor->shape()[place] == 1)
    return call.giveForElements(inPlace);
  MutableTensor each = selected::spread(call, *tensor, call.mask(), place).elements;
  return call.giveSelections(call.withElements("self", each), inPlace);
}

bool selected::expandAs(SelectedCall &call) {
  const auto *other = call.argument<Selection>("other");
  return other && giveExpanded(call, other->rank(), other->dim);
}

bool selected::expand(SelectedCall &call) {
  if (const auto *sizes = call.argument<SelectedSizes>("size"))
    return giveExpanded(call, static_cast<int64_t>(sizes->sizes.size()), sizes->dim);
  const auto *self = call.argument<Selection>("self");
  const auto *size = call.argument<Integers>("size");
  if (!self || !size)
    return false;
  int64_t dim = static_cast<int64_t>(size->size()) - (self->rank() - self->dim);
  int64_t extent = dim < 0 ? 0 : (*size)[static_cast<size_t>(dim)];
  if (extent > 1)
    return call.giveCall(call.withElements("self", selected::whole(call, *self, extent)));
  return extent == -1 && call.giveForElements([&](int64_t) { return std::optional(dim); });
}

/// In sizes of which those in front of the mask's have as many elements as before, and those behind
/// it, or where the mask has others of these for elements of its own; nothing for others.
static std::optional<Selection> inSizes(const SelectedCall &call, const Selection &x,
                                        const SelectedSizes &sizes) {
  ArrayRef<int64_t> old = x.elements.shape();
  SmallVector<int64_t> shape(sizes.sizes);
  auto open = llvm::find(shape, -1);
  if (open != shape.end()) {
    *open = 1;
    int64_t others = productOf(shape);
    *open = others > 0 ? productOf(old) / others : -1;
  }
  if (!llvm::all_of(shape, [](int64_t extent) { return extent > 0; }) ||
      productOf(shape) != productOf(old))
    return std::nullopt;
  auto isRepeated = [&](Value mask, Value each, ArrayRef<int64_t> from, int64_t fromDim,
                        ArrayRef<int64_t> to, int64_t toDim) {
    int64_t before = productOf(from.take_front(fromDim)),
            behind = productOf(from.drop_front(fromDim + 1)),
            front = productOf(to.take_front(toDim)), back = productOf(to.drop_front(toDim + 1));
    return before % front == 0 && behind % back == 0 &&
           isSameMask(mask, call.repeatedMask(each, before / front, behind / back));
  };
  if (!isRepeated(x.mask, sizes.mask, shape, sizes.dim, old, x.dim) &&
      !isRepeated(sizes.mask, x.mask, old, x.dim, shape, sizes.dim))
    return std::nullopt;
  Value mask = isSameMask(x.mask, sizes.mask) ? x.mask : sizes.mask;
  return Selection{call.view(x.elements, shape), mask, sizes.dim};
}

/// In this shape, of which a dimension holds the mask's with so many elements in front of each and
/// behind each, of which each has its own part.
static bool giveInShape(SelectedCall &call, const Selection &x, SmallVector<int64_t> shape,
                        int64_t dim, int64_t before, int64_t behind) {
  if (productOf(x.elements.shape()) == 0)
    return false;
  int64_t size = x.elements.shape()[x.dim];
  shape[dim] = before * size * behind;
  Value mask = call.repeatedMask(x.mask, before, behind);
  return call.give(Selection{call.view(x.elements, shape), mask, dim});
}

/// In this shape, of which the first dimension holds that of the mask, and behind it are so many
/// elements of the mask, which are selected together.
static bool giveTogether(SelectedCall &call, const Selection &x, SmallVector<int64_t> shape,
                         int64_t count) {
  Value mask = x.dim == 0 ? call.maskOfEach(x.mask, count) : Value();
  if (!mask)
    return false;
  shape.front() = cast<RankedTensorType>(mask.getType()).getNumElements();
  return call.give(Selection{call.view(x.elements, shape), mask, 0});
}

bool selected::reshape(SelectedCall &call) {
  const auto *self = call.argument<Selection>("self");
  for (StringRef name : {"shape", "size"})
    if (const auto *sizes = call.argument<SelectedSizes>(name)) {
      std::optional<Selection> result = self ? inSizes(call, *self, *sizes) : std::nullopt;
      return result && call.give(*result);
    }
  const Integers *shape = call.argument<Integers>("shape");
  shape = shape ? shape : call.argument<Integers>("size");
  if (!self || !shape || shape->empty() || shape->front() != -1)
    return false;
  ArrayRef<int64_t> old = self->elements.shape();
  int64_t rest = productOf(ArrayRef(*shape).drop_front()),
          inner = productOf(old.drop_front(self->dim + 1));
  if (rest > inner && inner > 0 && rest % inner == 0)
    return giveTogether(call, *self, *shape, rest / inner);
  if (rest <= 0 || inner % rest != 0)
    return false;
  return giveInShape(call, *self, *shape, 0, productOf(old.take_front(self->dim)), inner / rest);
}

bool selected::flatten(SelectedCall &call) {
  const auto *self = call.argument<Selection>("self");
  if (!self)
    return false;
  auto dimOr = [&](StringRef name, int64_t otherwise) {
    const auto *given = call.argument<int64_t>(name);
    return given ? *given < 0 ? *given + self->rank() : *given : otherwise;
  };
  int64_t first = dimOr("start_dim", 0), last = dimOr("end_dim", self->rank() - 1);
  if (first <= self->dim && self->dim <= last) {
    ArrayRef<int64_t> old = self->elements.shape();
    SmallVector<int64_t> shape(old.take_front(first + 1));
    llvm::append_range(shape, old.drop_front(last + 1));
    return giveInShape(call, *self, shape, first, productOf(old.slice(first, self->dim - first)),
                       productOf(old.slice(self->dim + 1, last - self->dim)));
  }
  return call.giveForElements(
      [&](int64_t) { return std::optional(self->dim - (last < self->dim ? last - first : 0)); });
}

/// Whether a call is about x[:n] of as many elements as are selected, along their dimension.
static bool isOfFirst(const SelectedCall &call, const Selection &values) {
  const auto *dim = call.argument<int64_t>("dim");
  Value mask = selected::countedBy(call, "end");
  return mask && isSameMask(mask, values.mask) && selected::isOr(call, "start", 0) &&
         selected::isOr(call, "step", 1) &&
         (dim ? *dim + (*dim < 0 ? values.rank() : 0) : 0) == values.dim;
}

/// Gives x with what is selected in place of x[:n].
static bool giveWithFirst(SelectedCall &call, const MutableTensor &x, const Selection &values) {
  int64_t total = x.shape()[values.dim];
  Integers shape(static_cast<size_t>(x.rank()), 1);
  shape[static_cast<size_t>(values.dim)] = total;
  MutableTensor count = call("sum", {{"self", call.flags(values.mask)}});
  MutableTensor isFirst =
      call("lt.Tensor", {{"self", call("arange", {{"end", total}})}, {"other", count}});
  MutableTensor packed = selected::compact(call, values, total, int64_t(0));
  return call.give(call(
      "where.self", {{"condition", call.view(isFirst, shape)}, {"self", packed}, {"other", x}}));
}

bool selected::scatterAlong(SelectedCall &call) {
  const auto *self = call.argument<Selection>("self"), *source = call.argument<Selection>("src");
  const auto *x = call.argument<MutableTensor>("self");
  if (x && source)
    return x->rank() == source->rank() && isOfFirst(call, *source) &&
           giveWithFirst(call, *x, *source);
  std::optional<Integers> dims = self ? call.dims(*self) : std::nullopt;
  if (!dims || !source || llvm::is_contained(*dims, self->dim))
    return false;
  bool isGone = source->rank() < self->rank(); // select_scatter(x, y, dim, i)
  return source->dim == self->dim - (isGone && dims->front() < self->dim) &&
         call.giveForElements([&](int64_t) { return std::optional(self->dim); });
}

bool selected::viewBackward(SelectedCall &call) {
  const auto *gradient = call.argument<Selection>("grad_output");
  const auto *sizes = call.argument<SelectedSizes>("input_sizes");
  const auto *given = call.argument<int64_t>("dim");
  if (const auto *whole = call.argument<Integers>("input_sizes")) // of x, where x[:n] was selected
    return gradient && isOfFirst(call, *gradient) &&
           call.give(
               compact(call, *gradient, (*whole)[static_cast<size_t>(gradient->dim)], int64_t(0)));
  if (!gradient || !sizes || !given)
    return false;
  auto rank = static_cast<int64_t>(sizes->sizes.size());
  int64_t dim = *given < 0 ? *given + rank : *given;
  bool isGone = gradient->rank() < rank; // select(x, dim, i)
  return dim != sizes->dim && gradient->dim == sizes->dim - (isGone && dim < sizes->dim) &&
         call.giveForElements([&](int64_t) { return std::optional(sizes->dim); });
}
