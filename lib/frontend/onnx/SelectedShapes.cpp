// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places that a mask selects, what is read and written there, and its shapes.
#include "frontend/aten/Numbers.h"
#include "frontend/aten/Selection.h"
#include "frontend/onnx/SelectedNode.h"

#include "llvm/ADT/StringSwitch.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using aten::Integers;
using aten::Local;
using aten::SelectedSizes;
using aten::Selection;
using Result = std::optional<Local>;

// ---- where a mask is true ----

/// [dimensions, elements]
static Result nonZero(const SelectedNode &node) {
  std::optional<aten::MutableTensor> x = node.inputAs<aten::MutableTensor>(0);
  if (!x || x->rank() == 0 || node.isKnown(node.read(*x)))
    return std::nullopt;
  return node.call("t", {{"self", node.call("nonzero", {{"self", *x}})}});
}

/// x[:, condition]
static Result compress(const SelectedNode &node) {
  std::optional<aten::MutableTensor> x = node.inputAs<aten::MutableTensor>(0),
                                     condition = node.inputAs<aten::MutableTensor>(1);
  if (!x || !condition || !node.node.hasAttribute("axis") || node.isKnown(node.read(*condition)))
    return std::nullopt;
  int64_t axis = node.node.axis(node.node.integer("axis"), x->rank());
  if (condition->rank() != 1 || condition->shape().front() != x->shape()[axis])
    return std::nullopt;
  aten::MutableTensors indices(static_cast<size_t>(axis));
  indices.push_back(*condition);
  return node.call("index.Tensor", {{"self", *x}, {"indices", indices}});
}

/// The columns of indices [elements, dimensions]; nothing for another shape.
static std::optional<aten::Selections> columnsOf(const SelectedNode &node, size_t input) {
  std::optional<Selection> places = node.selection(input);
  if (!places || places->rank() != 2 || places->dim != 0)
    return std::nullopt;
  aten::Selections columns;
  for (int64_t d = 0; d < places->elements.shape().back(); ++d)
    columns.push_back(std::get<Selection>(
        node.call("select.int", {{"self", *places}, {"dim", int64_t(1)}, {"index", d}})));
  return columns;
}

static Result gatherND(const SelectedNode &node) {
  if (node.node.integer("batch_dims", 0) != 0)
    return std::nullopt;
  if (std::optional<aten::Selections> columns = columnsOf(node, 1))
    return node.call("index.Tensor", {{"self", node.input(0)}, {"indices", *columns}});
  // x[indices] of what a mask selects along another dimension
  std::optional<aten::MutableTensor> places = node.inputAs<aten::MutableTensor>(1);
  if (!places || places->rank() == 0 || places->shape().back() != 1)
    return std::nullopt;
  ArrayRef<int64_t> shape = places->shape().drop_back();
  auto index = std::get<aten::MutableTensor>(
      node.call("reshape", {{"self", *places}, {"shape", Integers(shape.begin(), shape.end())}}));
  return node.call("index.Tensor",
                   {{"self", node.input(0)}, {"indices", aten::MutableTensors{index}}});
}

static Result scatterND(const SelectedNode &node) {
  std::optional<aten::Selections> columns = columnsOf(node, 1);
  std::string reduction = node.node.string("reduction", "none");
  if (!columns || (reduction != "none" && reduction != "add"))
    return std::nullopt;
  return node.call("index_put", {{"self", node.input(0)},
                                 {"indices", *columns},
                                 {"values", node.input(2)},
                                 {"accumulate", reduction == "add"}});
}

static Result gatherElements(const SelectedNode &node) {
  return node.call(
      "gather",
      {{"self", node.input(0)}, {"dim", node.node.integer("axis", 0)}, {"index", node.input(1)}});
}

static Result scatterElements(const SelectedNode &node) {
  std::string reduction = node.node.string("reduction", "none");
  std::vector<aten::NamedLocal> arguments{{"self", node.input(0)},
                                          {"dim", node.node.integer("axis", 0)},
                                          {"index", node.input(1)},
                                          {"src", node.input(2)}};
  if (reduction == "none")
    return node.call("scatter.src", arguments);
  if (reduction == "add")
    return node.call("scatter_add", arguments);
  StringRef kind = llvm::StringSwitch<StringRef>(reduction)
                       .Case("mul", "prod")
                       .Case("max", "amax")
                       .Case("min", "amin")
                       .Default("");
  if (kind.empty())
    return std::nullopt;
  arguments.push_back({"reduce", kind.str()});
  return node.call("scatter_reduce.two", arguments);
}

// ---- sizes ----

/// A list of which one is the number of selected elements, or none.
static Local listOf(const SelectedSizes &from, ArrayRef<int64_t> places) {
  SelectedSizes list{{}, from.mask, -1};
  for (int64_t place : places) {
    if (place == from.dim)
      list.dim = static_cast<int64_t>(list.sizes.size());
    list.sizes.push_back(from.sizes[static_cast<size_t>(place)]);
  }
  return list.dim < 0 ? Local(list.sizes) : Local(list);
}

static std::optional<SelectedSizes> sizesOf(const Selection &x) {
  ArrayRef<int64_t> shape = x.elements.shape();
  return SelectedSizes{Integers(shape.begin(), shape.end()), x.mask, x.dim};
}

/// A list that is computed, one of whose elements is how many of the mask's are true.
static std::optional<SelectedSizes> listComputed(Value list, Value mask) {
  SelectedSizes all{{}, nullptr, -1};
  auto joined = list.getDefiningOp<prim::ConcatenateOp>();
  for (Value part : joined ? SmallVector<Value>(joined->getOperands()) : SmallVector<Value>{list}) {
    if (DenseElementsAttr known = knownValue(part)) {
      for (const APInt &size : known.getValues<APInt>())
        all.sizes.push_back(size.getSExtValue());
      continue;
    }
    Value summed = aten::maskCountedBy(part);
    if (all.mask || !summed || (mask && !aten::isSameMask(summed, mask)))
      return std::nullopt;
    all.mask = mask ? mask : summed;
    all.dim = static_cast<int64_t>(all.sizes.size());
    all.sizes.push_back(cast<RankedTensorType>(all.mask.getType()).getNumElements());
  }
  return all;
}

/// Sizes, a number of selected elements as a list of one, or a list that is known.
static std::optional<SelectedSizes> listIn(const SelectedNode &node, size_t i) {
  if (std::optional<SelectedSizes> sizes = node.inputAs<SelectedSizes>(i))
    return sizes;
  if (Value mask = node.countedMask(i))
    return SelectedSizes{{cast<RankedTensorType>(mask.getType()).getNumElements()}, mask, 0};
  std::optional<Selection> x = node.selection(0);
  std::optional<aten::MutableTensor> tensor = node.inputAs<aten::MutableTensor>(i);
  if (tensor && !node.isKnown(i) && i > 0)
    return listComputed(node.read(*tensor), x ? x->mask : Value());
  if (!node.isKnown(i))
    return std::nullopt;
  SmallVector<int64_t> known = node.node.knownIntegers(i, "shape");
  return SelectedSizes{Integers(known.begin(), known.end()), nullptr, -1};
}

static Result shapeOf(const SelectedNode &node) {
  std::optional<Selection> x = node.selection(0);
  if (!x)
    return std::nullopt;
  auto bound = [&](StringRef name, int64_t otherwise) {
    int64_t at = node.node.integer(name, otherwise);
    return std::clamp<int64_t>(at < 0 ? at + x->rank() : at, 0, x->rank());
  };
  Integers places;
  for (int64_t d = bound("start", 0); d < bound("end", x->rank()); ++d)
    places.push_back(d);
  return listOf(*sizesOf(*x), places);
}

static Result sizeOf(const SelectedNode &node, const SelectedSizes &sizes) {
  int64_t others = 1;
  for (auto [d, size] : llvm::enumerate(sizes.sizes))
    others *= static_cast<int64_t>(d) == sizes.dim ? 1 : size;
  Local count = node.countOf(sizes.mask);
  if (others == 1)
    return count;
  return node.call("mul.Scalar", {{"self", count}, {"other", others}});
}
static Result size(const SelectedNode &node) {
  std::optional<Selection> x = node.selection(0);
  return x ? sizeOf(node, *sizesOf(*x)) : std::nullopt;
}
/// The product of sizes.
static Result reduceProd(const SelectedNode &node) {
  std::optional<SelectedSizes> sizes = node.inputAs<SelectedSizes>(0);
  return sizes && node.node.integer("keepdims", 1) == 0 ? sizeOf(node, *sizes) : std::nullopt;
}

/// Lists one behind the other; or tensors along an axis.
static Result concat(const SelectedNode &node) {
  SmallVector<Local> tensors;
  bool isAny = false;
  for (size_t i = 0; i < node.node.inputs(); ++i) {
    tensors.push_back(node.input(i));
    isAny |= std::holds_alternative<Selection>(tensors.back());
  }
  if (isAny)
    return node.call(
        "cat", {{"tensors", aten::listOfTensors(tensors)}, {"dim", node.node.integer("axis")}});
  SelectedSizes all{{}, nullptr, -1};
  for (size_t i = 0; i < node.node.inputs(); ++i) {
    std::optional<SelectedSizes> list = listIn(node, i);
    if (!list || (list->mask && all.mask))
      return std::nullopt;
    if (list->mask) {
      all.mask = list->mask;
      all.dim = static_cast<int64_t>(all.sizes.size()) + list->dim;
    }
    all.sizes.append(list->sizes);
  }
  return Local(all);
}

// ---- shapes ----

static Result transpose(const SelectedNode &node) {
  std::optional<Selection> x = node.selection(0);
  if (!x)
    return std::nullopt;
  Integers permutation(static_cast<size_t>(x->rank()));
  std::iota(permutation.rbegin(), permutation.rend(), 0);
  if (node.node.hasAttribute("perm")) {
    SmallVector<int64_t> given = node.node.integers("perm");
    permutation.assign(given.begin(), given.end());
  }
  return node.call("permute", {{"self", *x}, {"dims", permutation}});
}

static Result unsqueeze(const SelectedNode &node) {
  std::optional<Selection> x = node.selection(0);
  if (!x) // of a number
    return node.countedMask(0) ? Result(*listIn(node, 0)) : std::nullopt;
  std::optional<SmallVector<int64_t>> given = node.node.integersFrom("axes", 1);
  if (!given)
    return std::nullopt;
  SmallVector<int64_t> axes =
      node.node.axes(*given, x->rank() + static_cast<int64_t>(given->size()));
  llvm::sort(axes);
  Local result = *x;
  for (int64_t axis : axes)
    result = node.call("unsqueeze", {{"self", result}, {"dim", axis}});
  return result;
}

static Result squeeze(const SelectedNode &node) {
  if (std::optional<SelectedSizes> sizes = node.inputAs<SelectedSizes>(0))
    return sizes->sizes.size() == 1 ? Result(node.countOf(sizes->mask)) : std::nullopt;
  std::optional<Selection> x = node.selection(0);
  std::optional<Integers> axes = x ? node.axes("axes", 1, x->rank()) : std::nullopt;
  if (!axes)
    return std::nullopt;
  llvm::sort(*axes, std::greater<>());
  Local result = *x;
  for (int64_t axis : *axes)
    result = node.call("squeeze.dim", {{"self", result}, {"dim", axis}});
  return result;
}

/// Sizes before each dimension, then those behind each; ATen has both of the last one first.
static Result pad(const SelectedNode &node) {
  std::optional<Selection> x = node.selection(0);
  std::optional<SelectedSizes> sizes = listIn(node, 1);
  if (!x || !sizes || node.node.string("mode", "constant") != "constant" || node.node.has(3) ||
      static_cast<int64_t>(sizes->sizes.size()) != 2 * x->rank() ||
      (node.node.has(2) && !node.isKnown(2)))
    return std::nullopt;
  SmallVector<int64_t> order;
  for (int64_t d = x->rank() - 1; d >= 0; --d)
    order.append({d, d + x->rank()});
  double value = node.node.has(2) ? node.node.knownReal(2, "constant_value") : 0.0;
  return node.call("constant_pad_nd",
                   {{"self", *x}, {"pad", listOf(*sizes, order)}, {"value", value}});
}

/// A size of 0 is that of the input, unless `allowzero` says otherwise.
static Result reshape(const SelectedNode &node) {
  std::optional<SelectedSizes> shape = listIn(node, 1);
  if (node.countedMask(0) && shape && !shape->mask)
    return shape->sizes == Integers{-1} || shape->sizes == Integers{1} ? Result(*listIn(node, 0))
           : shape->sizes.empty()                                      ? Result(node.input(0))
                                                                       : std::nullopt;
  std::optional<SelectedSizes> list = node.inputAs<SelectedSizes>(0);
  if (list && shape && !shape->mask && list->sizes.size() == 1)
    return shape->sizes.empty() ? Result(node.countOf(list->mask)) : Result(*list);
  std::optional<Selection> x = node.selection(0);
  if (!shape)
    return std::nullopt;
  for (auto [d, extent] : llvm::enumerate(shape->sizes)) {
    auto dim = static_cast<int64_t>(d);
    if (extent != 0 || dim == shape->dim || node.node.integer("allowzero", 0) != 0)
      continue;
    if (!x || dim >= x->rank() || (dim == x->dim && shape->mask))
      return std::nullopt;
    extent = x->elements.shape()[dim];
    if (dim == x->dim) {
      shape->mask = x->mask;
      shape->dim = dim;
    }
  }
  Local sizes = shape->mask ? Local(*shape) : Local(shape->sizes);
  return node.call("reshape", {{"self", node.input(0)}, {"shape", sizes}});
}

/// Both have the extents of the other where their own is 1.
static Result expand(const SelectedNode &node) {
  std::optional<Selection> x = node.selection(0);
  std::optional<aten::MutableTensor> tensor = node.inputAs<aten::MutableTensor>(0);
  std::optional<SelectedSizes> shape = listIn(node, 1);
  if (!shape || (!x && !shape->mask) || (!x && !tensor))
    return std::nullopt;
  SelectedSizes own = x ? *sizesOf(*x) : SelectedSizes{{}, nullptr, -1};
  if (!x)
    own.sizes.assign(tensor->shape().begin(), tensor->shape().end());
  auto rank = static_cast<int64_t>(std::max(own.sizes.size(), shape->sizes.size()));
  for (SelectedSizes *each : {&own, &*shape}) {
    int64_t more = rank - static_cast<int64_t>(each->sizes.size());
    each->sizes.insert(each->sizes.begin(), static_cast<size_t>(more), 1);
    each->dim += each->mask ? more : 0;
  }
  if (own.mask && shape->mask && own.dim != shape->dim)
    return std::nullopt;
  SelectedSizes all = own.mask ? own : *shape;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t a = own.sizes[d], b = shape->sizes[d];
    bool isMasked = all.mask && d == all.dim;
    // Of another tensor all elements are there, one for each selected one.
    bool fits = isMasked ? (d == own.dim || tensor || a == 1) && (d == shape->dim || b == 1)
                         : a == b || a == 1 || b == 1;
    if (!fits)
      return std::nullopt;
    if (!isMasked)
      all.sizes[d] = a == 1 ? b : a;
  }
  Local sizes = all.mask ? Local(all) : Local(all.sizes);
  return node.call("expand", {{"self", node.input(0)}, {"size", sizes}});
}

static Result constantOfShape(const SelectedNode &node) {
  std::optional<SelectedSizes> sizes = listIn(node, 0);
  return sizes && sizes->mask ? Result(node.ofSizes(*sizes)) : std::nullopt;
}

// ---- parts ----

/// Of sizes: those at known places.
static Result gatherSizes(const SelectedNode &node, const SelectedSizes &sizes) {
  if (!node.isKnown(1))
    return std::nullopt;
  auto count = static_cast<int64_t>(sizes.sizes.size());
  Integers places;
  for (int64_t place : node.node.knownIntegers(1, "indices"))
    places.push_back(place < 0 ? place + count : place);
  if (!llvm::all_of(places, [&](int64_t place) { return place >= 0 && place < count; }))
    return std::nullopt;
  Local list = listOf(sizes, places);
  if (node.node.in(1).rank() > 0)
    return list;
  return std::holds_alternative<SelectedSizes>(list) ? Result(node.countOf(sizes.mask))
                                                     : std::nullopt;
}

static Result gather(const SelectedNode &node) {
  if (std::optional<SelectedSizes> sizes = node.inputAs<SelectedSizes>(0))
    return gatherSizes(node, *sizes);
  std::optional<int64_t> rank = node.rank(0);
  if (!rank)
    return std::nullopt;
  int64_t axis = node.node.axis(node.node.integer("axis", 0), *rank);
  if (std::optional<Selection> indices = node.selection(1)) {
    aten::Selections all(static_cast<size_t>(axis));
    all.push_back(*indices);
    return node.call("index.Tensor", {{"self", node.input(0)}, {"indices", all}});
  }
  if (!node.isKnown(1))
    return std::nullopt;
  SmallVector<int64_t> known = node.node.knownIntegers(1, "indices");
  if (node.node.in(1).rank() == 0)
    return node.call("select.int",
                     {{"self", node.input(0)}, {"dim", axis}, {"index", known.front()}});
  return node.node.in(1).rank() == 1
             ? Result(node.call("index_select",
                                {{"self", node.input(0)}, {"dim", axis}, {"index", node.input(1)}}))
             : std::nullopt;
}

/// A slice along one dimension of rank-many, from 0 on and of as many elements as a mask selects.
struct CountedSlice {
  int64_t dim;
  SelectedSizes end;
};

static std::optional<CountedSlice> countedSlice(const SelectedNode &node, int64_t rank) {
  std::optional<SelectedSizes> end = listIn(node, 2);
  for (size_t i : {1, 3, 4})
    if (node.node.has(i) && !node.isKnown(i))
      return std::nullopt;
  if (!end || !end->mask || end->sizes.size() != 1 || node.node.knownInteger(1, "starts") != 0 ||
      (node.node.has(4) && node.node.knownInteger(4, "steps") != 1))
    return std::nullopt;
  int64_t dim = node.node.has(3) ? node.node.axis(node.node.knownInteger(3, "axes"), rank) : 0;
  return CountedSlice{dim, *end};
}

static Result slice(const SelectedNode &node) {
  std::optional<Selection> x = node.selection(0);
  std::optional<SelectedSizes> sizes = node.inputAs<SelectedSizes>(0);
  std::optional<aten::MutableTensor> whole = node.inputAs<aten::MutableTensor>(0);
  if (node.node.opset() < 10 || (!x && !sizes && !whole))
    return std::nullopt;
  if (std::optional<CountedSlice> counted =
          sizes ? std::nullopt : countedSlice(node, x ? x->rank() : whole->rank())) {
    if (whole)
      return node.call("slice.Tensor",
                       {{"self", *whole}, {"dim", counted->dim}, {"end", counted->end}});
    if (counted->dim == x->dim && aten::isSameMask(counted->end.mask, x->mask))
      return Local(*x);
  }
  if (whole)
    return std::nullopt;
  for (size_t i = 1; i < node.node.inputs(); ++i)
    if (node.node.has(i) && !node.isKnown(i))
      return std::nullopt;
  SmallVector<int64_t> starts = node.node.knownIntegers(1, "starts"),
                       ends = node.node.knownIntegers(2, "ends"), steps(starts.size(), 1),
                       axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (node.node.has(3))
    axes = node.node.axes(node.node.knownIntegers(3, "axes"), x ? x->rank() : 1);
  if (node.node.has(4))
    steps = node.node.knownIntegers(4, "steps");
  if (llvm::any_of(steps, [](int64_t step) { return step < 1; }) || ends.size() != starts.size() ||
      axes.size() != starts.size() || steps.size() != starts.size())
    return std::nullopt;
  if (sizes) {
    auto count = static_cast<int64_t>(sizes->sizes.size());
    auto bound = [&](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? at + count : at, 0, count);
    };
    Integers places;
    for (int64_t d = bound(starts.front()); d < bound(ends.front()); d += steps.front())
      places.push_back(d);
    return listOf(*sizes, places);
  }
  Local result = *x;
  for (auto [axis, start, end, step] : llvm::zip_equal(axes, starts, ends, steps))
    result = node.call(
        "slice.Tensor",
        {{"self", result}, {"dim", axis}, {"start", start}, {"end", end}, {"step", step}});
  return result;
}

SelectedRule accc::onnx_import::selectedShapeRule(StringRef op) {
  return llvm::StringSwitch<SelectedRule>(op)
      .Case("NonZero", nonZero)
      .Case("Compress", compress)
      .Case("GatherND", gatherND)
      .Case("ScatterND", scatterND)
      .Case("GatherElements", gatherElements)
      .Cases("Scatter", "ScatterElements", scatterElements)
      .Case("Shape", shapeOf)
      .Case("Size", size)
      .Case("ReduceProd", reduceProd)
      .Case("Concat", concat)
      .Case("Transpose", transpose)
      .Case("Unsqueeze", unsqueeze)
      .Case("Squeeze", squeeze)
      .Case("Pad", pad)
      .Case("Reshape", reshape)
      .Case("Expand", expand)
      .Case("ConstantOfShape", constantOfShape)
      .Case("Gather", gather)
      .Case("Slice", slice)
      .Default(nullptr);
}
