// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/SelectionRules.h"
#include "frontend/aten/Selection.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::aten;

// ---- reading ----

namespace {
struct MaskIndex {
  MutableTensor mask;
  int64_t dim;
};
} // namespace

/// The mask of an index that has nothing but whole dimensions beside it, and the first of its own.
static std::optional<MaskIndex> onlyMask(const MutableTensors &indices) {
  auto isThere = [](const MutableTensor &each) { return bool(each); };
  auto found = llvm::find_if(indices, isThere);
  if (llvm::count_if(indices, isThere) != 1 || !getElementTypeOrSelf(found->type()).isInteger(1))
    return std::nullopt;
  return MaskIndex{*found, std::distance(indices.begin(), found)};
}

/// Gives what a mask selects of x, unless its value is known.
static bool giveSelected(SelectedCall &call, const MutableTensor &x, const MaskIndex &index) {
  if (call.mask() || call.isKnown(call.read(index.mask)))
    return false;
  std::optional<Selection> found = call.select(x, call.read(index.mask), index.dim);
  return found && call.give(*found);
}

/// Of x[:, indices] where x is a selection and its mask has another dimension.
static bool giveIndexed(SelectedCall &call, const Selection &x, const MutableTensors &indices) {
  auto isThere = [](const MutableTensor &each) { return bool(each); };
  auto found = llvm::find_if(indices, isThere);
  if (!call.isOnlySelection() || llvm::count_if(indices, isThere) != 1 ||
      getElementTypeOrSelf(found->type()).isInteger(1))
    return false;
  int64_t dim = std::distance(indices.begin(), found), more = found->rank() - 1;
  return dim != x.dim && call.giveForElements([&](int64_t) {
    return std::optional(x.dim + (dim < x.dim ? more : 0));
  });
}

/// The mask of y[mask], where another one selects y and this one.
static std::optional<MutableTensor> nestedMask(const SelectedCall &call, const Selection &x) {
  const auto *indices = call.argument<Selections>("indices");
  if (!indices || indices->size() != 1)
    return std::nullopt;
  const Selection &inner = indices->front();
  if (!inner.mask || !elementTypeOf(inner).isInteger(1) || x.dim != 0 || inner.dim != 0 ||
      !isSameMask(x.mask, inner.mask))
    return std::nullopt;
  return call("logical_and", {{"self", call.maskOf(inner)}, {"other", inner.elements}});
}

static bool readNested(SelectedCall &call) {
  const auto *x = call.argument<Selection>("self");
  std::optional<MutableTensor> mask = x ? nestedMask(call, *x) : std::nullopt;
  std::optional<Selection> found =
      mask ? call.select(x->elements, call.read(*mask), 0) : std::nullopt;
  return found && call.give(*found);
}

bool selected::read(SelectedCall &call) {
  if (call.argument<Selections>("indices"))
    return readNested(call) || readAtSelected(call);
  const auto *x = call.argument<MutableTensor>("self");
  const auto *indices = call.argument<MutableTensors>("indices");
  if (const auto *selection = call.argument<Selection>("self"))
    return indices && giveIndexed(call, *selection, *indices);
  std::optional<MaskIndex> index = indices ? onlyMask(*indices) : std::nullopt;
  return x && *x && index && giveSelected(call, *x, *index);
}

bool selected::readAll(SelectedCall &call) {
  const auto *x = call.argument<MutableTensor>("self"),
             *mask = call.argument<MutableTensor>("mask");
  return x && mask && *x && *mask && x->shape() == mask->shape() &&
         giveSelected(call, *x, {*mask, 0});
}

// ---- writing ----

/// x with the selection where its mask is true, or nothing.
static std::optional<MutableTensor> written(const SelectedCall &call, const MutableTensor &x,
                                            int64_t dim, const Selection &values,
                                            bool accumulates) {
  ArrayRef<int64_t> shape = x.shape();
  auto mask = cast<RankedTensorType>(values.mask.getType());
  int64_t rank = mask.getRank();
  if (dim + rank > x.rank() || shape.slice(dim, rank) != mask.getShape() ||
      getElementTypeOrSelf(x.type()) != getElementTypeOrSelf(values.elements.type()))
    return std::nullopt;
  SmallVector<int64_t> flat(shape.take_front(dim));
  flat.push_back(mask.getNumElements());
  llvm::append_range(flat, shape.drop_front(dim + rank));
  if (values.dim != dim || values.elements.shape() != ArrayRef<int64_t>(flat))
    return std::nullopt;
  MutableTensor there = call.view(values.elements, shape);
  if (accumulates)
    there = call("add.Tensor", {{"self", x}, {"other", there}});
  SmallVector<int64_t> place(shape.size(), 1);
  llvm::copy(mask.getShape(), place.begin() + dim);
  return call(
      "where.self",
      {{"condition", call.view(call.tensor(values.mask), place)}, {"self", there}, {"other", x}});
}

bool selected::giveWritten(SelectedCall &call, const MutableTensor &x, int64_t dim,
                           const Selection &values, bool accumulates) {
  std::optional<MutableTensor> result = written(call, x, dim, values, accumulates);
  if (!result)
    return false;
  return call.give(call.op().inPlace ? call("copy_", {{"self", x}, {"src", *result}}) : *result);
}

/// Writes y[mask] = z, where another mask selects y and this one; z is a number, or what both
/// select.
static bool writeNested(SelectedCall &call) {
  const auto *x = call.argument<Selection>("self");
  const auto *values = call.argument<Selection>("values");
  const auto *number = call.argument<MutableTensor>("values");
  const auto *accumulate = call.argument<bool>("accumulate");
  std::optional<MutableTensor> mask = x ? nestedMask(call, *x) : std::nullopt;
  if (!mask || (accumulate && *accumulate))
    return false;
  bool isNumber = number && *number && number->rank() == 0;
  auto sizeOf = [](const Selection &each) {
    return cast<RankedTensorType>(each.elements.type()).getNumElements();
  };
  bool isSelected = values && values->dim == 0 && sizeOf(*values) == sizeOf(*x) &&
                    isSameMask(values->mask, call.read(*mask));
  if (!isNumber && !isSelected)
    return false;
  ArrayRef<int64_t> shape = x->elements.shape();
  SmallVector<int64_t> place(mask->shape());
  place.resize(shape.size(), 1);
  MutableTensor result =
      call("where.self", {{"condition", call.view(*mask, place)},
                          {"self", isNumber ? *number : call.view(values->elements, shape)},
                          {"other", x->elements}});
  if (call.op().inPlace)
    result = call("copy_", {{"self", x->elements}, {"src", result}});
  return call.give(Selection{result, x->mask, 0});
}

/// Writes x[mask] = y, where y has an element for each that is selected.
static bool writeWhole(SelectedCall &call) {
  const auto *x = call.argument<MutableTensor>("self"),
             *values = call.argument<MutableTensor>("values");
  const auto *indices = call.argument<MutableTensors>("indices");
  const auto *accumulate = call.argument<bool>("accumulate");
  std::optional<MaskIndex> index = indices ? onlyMask(*indices) : std::nullopt;
  if (!x || !values || !index || call.isKnown(call.read(index->mask)))
    return false;
  int64_t rank = index->mask.rank(), behind = x->rank() - index->dim - rank;
  int64_t place = values->rank() - behind - 1;
  if (behind < 0 || place < 0 || values->shape()[place] == 1)
    return false;
  Integers shape(x->shape().begin(), x->shape().begin() + index->dim);
  shape.push_back(values->shape()[place]);
  shape.insert(shape.end(), x->shape().end() - behind, x->shape().end());
  MutableTensor all = call("expand", {{"self", *values}, {"size", shape}});
  Selection each = selected::spread(call, all, call.read(index->mask), index->dim);
  return selected::giveWritten(call, *x, index->dim, each, accumulate && *accumulate);
}

bool selected::write(SelectedCall &call) {
  if (call.argument<Selection>("self"))
    return writeNested(call);
  if (!call.mask())
    return writeWhole(call);
  if (!call.hasOneMask())
    return false;
  const auto *x = call.argument<MutableTensor>("self");
  const auto *values = call.argument<Selection>("values");
  const auto *indices = call.argument<MutableTensors>("indices");
  const auto *accumulate = call.argument<bool>("accumulate");
  if (call.argument<Selections>("indices"))
    return writeAtSelected(call);
  std::optional<MaskIndex> index = indices ? onlyMask(*indices) : std::nullopt;
  return x && values && index && isSameMask(call.read(index->mask), values->mask) &&
         giveWritten(call, *x, index->dim, *values, accumulate && *accumulate);
}

/// Whether a predicate is the mask, for all elements that a tensor of this shape has behind each of
/// the mask's.
static bool isMaskInFront(Value predicate, ArrayRef<int64_t> shape, Value mask) {
  ArrayRef<int64_t> own = cast<RankedTensorType>(mask.getType()).getShape();
  auto shapeOf = [&] { return cast<RankedTensorType>(predicate.getType()).getShape(); };
  auto isInFront = [&](ArrayRef<int64_t> all) {
    return all.size() >= own.size() && all.take_front(own.size()) == own;
  };
  if (auto broadcast = predicate.getDefiningOp<prim::BroadcastOp>();
      broadcast && shapeOf() == shape) {
    for (auto [i, dim] : llvm::enumerate(broadcast.getDimensions()))
      if (dim != static_cast<int64_t>(i))
        return false;
    predicate = broadcast.getOperand();
  } else if (shapeOf().size() != shape.size()) {
    return false; // its dimensions are the last ones
  }
  return isInFront(shape) && isInFront(shapeOf()) && isSameMask(predicate, mask);
}

bool selected::writeAll(SelectedCall &call) {
  const auto *x = call.argument<MutableTensor>("self"),
             *mask = call.argument<MutableTensor>("mask");
  const auto *values = call.argument<Selection>("source");
  return x && mask && values && isMaskInFront(call.read(*mask), x->shape(), values->mask) &&
         giveWritten(call, *x, 0, *values, /*accumulates=*/false);
}

bool selected::writeAllBackward(SelectedCall &call) {
  const auto *gradient = call.argument<MutableTensor>("grad_output"),
             *mask = call.argument<MutableTensor>("mask");
  const auto *sizes = call.argument<SelectedSizes>("sizes");
  if (!gradient || !mask || !sizes || sizes->dim != 0 ||
      !isMaskInFront(call.read(*mask), gradient->shape(), sizes->mask))
    return false;
  int64_t rank = cast<RankedTensorType>(sizes->mask.getType()).getRank();
  if (gradient->shape().drop_front(rank) != ArrayRef<int64_t>(sizes->sizes).drop_front())
    return false;
  std::optional<Selection> selected = call.select(*gradient, sizes->mask, 0);
  return selected && call.give(*selected);
}

// ---- what treats the elements of the mask alike ----

bool selected::linear(SelectedCall &call) { return call.giveAlike("input", 1); }
bool selected::embedding(SelectedCall &call) {
  const auto *counts = call.argument<bool>("scale_grad_by_freq"); // the repeated elements, too
  return (!counts || !*counts) && call.giveAlike("indices", 0);
}
bool selected::dropout(SelectedCall &call) { return call.giveAlike("input", 0); }

bool selected::oneHot(SelectedCall &call) {
  const auto *classes = call.argument<int64_t>("num_classes");
  return classes && *classes > 0 && call.giveAlike("self", 0);
}

bool selected::normalization(SelectedCall &call) {
  const auto *shape = call.argument<Integers>("normalized_shape");
  return shape && call.giveAlike("input", static_cast<int64_t>(shape->size()));
}

bool selected::sampleNormalization(SelectedCall &call) {
  return call.giveAlike("input", call.rankOf("input").value_or(0) - 1);
}

/// A sample has one dimension less than the filters.
bool selected::convolution(SelectedCall &call) {
  std::optional<int64_t> rank = call.rankOf("input"), filters = call.rankOf("weight");
  return rank && rank == filters && call.giveAlike("input", *rank - 1);
}

bool selected::similarity(SelectedCall &call) {
  const auto *a = call.argument<Selection>("x1"), *b = call.argument<Selection>("x2");
  const auto *given = call.argument<int64_t>("dim");
  if (!a || !b || a->rank() != b->rank() || a->dim != b->dim)
    return false;
  int64_t dim = given ? *given : 1;
  dim += dim < 0 ? a->rank() : 0;
  return dim != a->dim && call.giveForElements([&](int64_t) -> std::optional<int64_t> {
    return a->dim - (dim < a->dim);
  });
}

// ---- shapes ----

Value selected::countedBy(const SelectedCall &call, StringRef parameter) {
  if (const auto *sizes = call.argument<SelectedSizes>(parameter))
    return sizes->sizes.size() == 1 ? sizes->mask : Value();
  const auto *number = call.argument<MutableTensor>(parameter);
  return number ? maskCountedBy(call.read(*number)) : Value();
}

bool selected::isOr(const SelectedCall &call, StringRef parameter, int64_t otherwise) {
  const auto *number = call.argument<int64_t>(parameter); // none where it depends on data
  return number ? *number == otherwise : !call.isGiven(parameter);
}

bool selected::slice(SelectedCall &call) {
  const auto *self = call.argument<Selection>("self");
  const auto *given = call.argument<int64_t>("dim");
  int64_t dim = given ? *given : 0;
  if (!isOr(call, "start", 0) || !isOr(call, "step", 1))
    return false;
  if (self)
    return isOr(call, "end", std::numeric_limits<int64_t>::max()) && dim == self->dim &&
           call.give(*self);
  const auto *x = call.argument<MutableTensor>("self");
  Value mask = countedBy(call, "end");
  return x && mask && call.give(selected::first(call, *x, mask, dim < 0 ? dim + x->rank() : dim));
}

bool selected::unsqueeze(SelectedCall &call) {
  const auto *self = call.argument<Selection>("self");
  const auto *given = call.argument<int64_t>("dim");
  if (!self || !given)
    return false;
  int64_t dim = *given < 0 ? *given + self->rank() + 1 : *given;
  return call.giveForElements(
      [&](int64_t) { return std::optional(self->dim + (dim <= self->dim)); });
}

static bool giveSwapped(SelectedCall &call, int64_t a, int64_t b) {
  const auto *self = call.argument<Selection>("self");
  return self && call.giveForElements([&](int64_t rank) {
    a += a < 0 ? rank : 0;
    b += b < 0 ? rank : 0;
    return std::optional(self->dim == a ? b : self->dim == b ? a : self->dim);
  });
}

bool selected::transpose(SelectedCall &call) {
  const auto *a = call.argument<int64_t>("dim0"), *b = call.argument<int64_t>("dim1");
  return a && b && giveSwapped(call, *a, *b);
}

bool selected::transposeMatrix(SelectedCall &call) {
  const auto *self = call.argument<Selection>("self");
  if (self && self->rank() == 1)
    return call.give(*self);
  return self && self->rank() == 2 && giveSwapped(call, -2, -1); // numpy_T reverses all
}

bool selected::transposeMatrices(SelectedCall &call) {
  const auto *self = call.argument<Selection>("self");
  return self && self->rank() >= 2 && giveSwapped(call, -2, -1);
}

bool selected::permute(SelectedCall &call) {
  const auto *self = call.argument<Selection>("self");
  const auto *dims = call.argument<Integers>("dims");
  return self && dims && call.giveForElements([&](int64_t rank) -> std::optional<int64_t> {
    auto found = llvm::find_if(
        *dims, [&](int64_t dim) { return (dim < 0 ? dim + rank : dim) == self->dim; });
    return std::distance(dims->begin(), found);
  });
}

/// With tensors that have an element for each that is selected.
static bool broadcastWhole(SelectedCall &call, const Selections &list) {
  const Selection &first = *llvm::find_if(list, [](const Selection &each) { return each.mask; });
  int64_t behind = first.rank() - first.dim, extent = 1;
  for (const Selection &each : list) {
    int64_t place = each.rank() - behind;
    if (each.mask ? each.dim != place
                  : place >= 0 && each.elements.shape()[place] > 1 && extent > 1)
      return false;
    if (!each.mask && place >= 0)
      extent = std::max(extent, each.elements.shape()[place]);
  }
  MutableTensors tensors;
  for (const Selection &each : list)
    tensors.push_back(each.mask ? selected::whole(call, each, extent) : each.elements);
  return extent > 1 && call.giveCall({{"tensors", tensors}});
}

bool selected::broadcastTensors(SelectedCall &call) {
  const auto *list = call.argument<Selections>("tensors");
  if (list && llvm::any_of(*list, [](const Selection &each) { return !each.mask; }))
    return broadcastWhole(call, *list);
  bool isOfOneShape = list && llvm::all_of(*list, [&](const Selection &each) {
                        return each.mask &&
                               each.elements.shape() == list->front().elements.shape() &&
                               each.dim == list->front().dim;
                      });
  return isOfOneShape && call.give(*list);
}

bool selected::flip(SelectedCall &call) {
  const auto *self = call.argument<Selection>("self");
  std::optional<Integers> dims = self ? call.dims(*self) : std::nullopt;
  if (!dims || !llvm::is_contained(*dims, self->dim))
    return false; // along others, the table of those knows it
  MutableTensor flags = call.view(call.tensor(self->mask), {self->elements.shape()[self->dim]});
  flags = call("flip", {{"self", flags}, {"dims", Integers{0}}});
  MutableTensor elements = call("flip", {{"self", self->elements}, {"dims", *dims}});
  return call.give(Selection{elements, call.read(flags), self->dim});
}

bool selected::repeatInterleaved(SelectedCall &call) {
  const auto *self = call.argument<Selection>("self");
  const auto *repeats = call.argument<int64_t>("repeats");
  std::optional<Integers> dims = self ? call.dims(*self) : std::nullopt;
  if (!dims || !repeats || *repeats < 1)
    return false;
  auto repeated = [&](const MutableTensor &x, int64_t dim) {
    return call("repeat_interleave.self_int", {{"self", x}, {"repeats", *repeats}, {"dim", dim}});
  };
  int64_t dim = dims->front();
  MutableTensor elements = repeated(self->elements, dim);
  if (dim != self->dim)
    return call.give(Selection{elements, self->mask, self->dim});
  MutableTensor flags = call.view(call.tensor(self->mask), {self->elements.shape()[dim]});
  return call.give(Selection{elements, call.read(repeated(flags, 0)), dim});
}

/// Selections and plain tensors one behind the other along the dimension of their masks.
static bool giveLonger(SelectedCall &call, const Selections &list, int64_t dim) {
  Type i1 = IntegerType::get(list.front().elements.type().getContext(), 1);
  MutableTensors elements, masks;
  SmallVector<Value> all;
  for (const Selection &each : list) {
    if (!each.elements || each.rank() != list.front().rank() || (each.mask && each.dim != dim))
      return false;
    Integers size{each.elements.shape()[dim]};
    elements.push_back(each.elements);
    masks.push_back(each.mask ? call.view(call.tensor(each.mask), size)
                              : call("ones", {{"size", size}, {"dtype", i1}}));
    all.push_back(call.read(masks.back()));
  }
  MutableTensor mask = call("cat", {{"tensors", masks}});
  MutableTensor joined = call("cat", {{"tensors", elements}, {"dim", dim}});
  Selection longer{joined, call.read(mask), dim};
  if (std::optional<int64_t> size = sizeOfMasks(call, all))
    return call.give(selected::compact(call, longer, *size, int64_t(0)));
  return call.give(call.repeated(longer));
}

/// Selections along one dimension, joined along `dim`, which `isNew` or another of theirs.
static bool giveJoined(SelectedCall &call, bool isNew) {
  const auto *list = call.argument<Selections>("tensors");
  const auto *given = call.argument<int64_t>("dim");
  if (!list)
    return false;
  const Selection &first = *llvm::find_if(*list, [](const Selection &each) { return each.mask; });
  int64_t dim = given ? *given : 0;
  dim += dim < 0 ? first.rank() + isNew : 0;
  if (!isNew && dim == first.dim)
    return giveLonger(call, *list, dim);
  bool isOne = call.hasOneMask() && llvm::all_of(*list, [&](const Selection &each) {
                 return each.mask && each.rank() == first.rank() && each.dim == first.dim;
               });
  return isOne && call.giveForElements([&](int64_t) {
    return std::optional(first.dim + (isNew && dim <= first.dim));
  });
}
bool selected::concatenate(SelectedCall &call) { return giveJoined(call, /*isNew=*/false); }
bool selected::stack(SelectedCall &call) { return giveJoined(call, /*isNew=*/true); }
