// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors made of nothing.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Gradient.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

Type defaultFloat(Node &node) { return node.forward().defaultFloat(); }

/// Of one number, that of an argument.
Entities filled(Node &node, ArrayRef<int64_t> shape, Type type, StringRef name) {
  auto complex = dyn_cast<ComplexType>(type);
  tensorType(shape, complex ? complex.getElementType() : type);
  if (!complex)
    return {node.broadcastTo(asTensor(node, name, type), shape)};
  Complex value = node.isComplex(name) ? node.complexIn(name)
                                       : Complex(asTensor(node, name, complex.getElementType()));
  value = value.map(
      [&](Tensor part) { return node.broadcastTo(part.convert(complex.getElementType()), shape); });
  return {value.value(node)};
}

/// The dtype is that of the number where the call has none.
Entities filledAs(Node &node, ArrayRef<int64_t> shape, StringRef name) {
  Builder &b = node.builder();
  Type type = node.isComplex(name)   ? node.tensorType(name).getElementType()
              : node.isBoolean(name) ? Type(b.getI1Type())
              : node.isInteger(name) ? Type(b.getI64Type())
                                     : defaultFloat(node);
  return filled(node, shape, node.anyElementType("dtype", type), name);
}

Entities full(Node &node) { return filledAs(node, node.integers("size"), "fill_value"); }
Entities fullLike(Node &node) {
  RankedTensorType type = node.tensorType("self");
  return filled(node, type.getShape(), node.anyElementType("dtype", type.getElementType()),
                "fill_value");
}
Entities newFull(Node &node) {
  Type type = node.anyElementType("dtype", node.tensorType("self").getElementType());
  return filled(node, node.integers("size"), type, "fill_value");
}
/// In place, x.fill_(value).
Entities fill(Node &node) {
  RankedTensorType type = node.tensorType("self");
  Value value = filled(node, type.getShape(), type.getElementType(), "value").front().tensor;
  Value before =
      frontend::isComplex(type) ? node.complexIn("self").value(node) : node.in("self").get();
  return {zeroDependence(node.forward(), node.loc(), value, before)};
}

template <int value> Entities constant(Node &node) {
  node.set("fill_value", int64_t(value));
  return filled(node, node.integers("size"), node.anyElementType("dtype", defaultFloat(node)),
                "fill_value");
}
template <int value> Entities constantLike(Node &node) {
  node.set("fill_value", int64_t(value));
  return fullLike(node);
}
template <int value> Entities newConstant(Node &node) {
  node.set("fill_value", int64_t(value));
  return newFull(node);
}

/// Of the shape and type of `other`, behind the first dimensions of `self`: a forward-mode
/// derivative.
Entities zeroTangent(Node &node) {
  RankedTensorType other = node.tensorType("other");
  ArrayRef<int64_t> own = node.tensorType("self").getShape();
  int64_t batch = node.integer("self_num_batch_dims");
  if (batch < 0 || batch > static_cast<int64_t>(own.size()))
    fail("self has no " + Twine(batch) + " dimensions");
  SmallVector<int64_t> shape(own.take_front(batch));
  shape.append(other.getShape().begin(), other.getShape().end());
  node.set("fill_value", int64_t(0));
  return filled(node, shape, other.getElementType(), "fill_value");
}

/// start, start + step, ... below end.
Entities arange(Node &node) {
  bool integral = node.isInteger("start") && node.isInteger("end") && node.isInteger("step");
  Type type =
      node.elementType("dtype", integral ? Type(node.builder().getI64Type()) : defaultFloat(node));
  double start = node.number("start"), end = node.number("end"), step = node.number("step");
  double distance = end - start;
  if (int64_t whole;
      integral && !llvm::SubOverflow(node.integer("end"), node.integer("start"), whole))
    distance = static_cast<double>(whole); // of integers that a double need not hold
  double count = std::ceil(distance / step);
  if (step == 0 || !(count >= 0) || count > 0x1p40)
    fail("from " + Twine(std::to_string(start)) + " to " + Twine(std::to_string(end)) +
         " there are no steps of " + Twine(std::to_string(step)));
  SmallVector<int64_t> shape = {static_cast<int64_t>(count)};
  tensorType(shape, node.builder().getF64Type());
  Tensor index = node.iota(shape, 0);
  if (isa<IntegerType>(type)) {
    Tensor value = multiplied(node, index, "step");
    if (integral && start != 0)
      return {(value + asTensor(node, "start", value.elementType())).convert(type)};
    return {(start == 0 ? value : value + start).convert(type)};
  }
  // In double precision, as PyTorch counts.
  Tensor value = index.convert(node.builder().getF64Type());
  if (step != 1)
    value = value * step;
  return {(start == 0 ? value : value + start).convert(type)};
}

/// `steps` numbers from start to end, both included, in double precision. PyTorch counts from both
/// ends, and integers between integers.
Tensor spaced(Node &node, Type result) {
  int64_t steps = node.integer("steps");
  if (steps < 0 || steps > int64_t(1) << 24)
    fail("the number of steps is " + Twine(steps));
  Type type = node.builder().getF64Type();
  auto end = [&](StringRef name) {
    Tensor given = asTensor(node, name, type);
    if (isa<IntegerType>(result))
      given = given.convert(node.builder().getI64Type()).convert(type);
    return node.broadcastTo(given, {steps});
  };
  Tensor first = end("start"), last = end("end");
  if (steps <= 1)
    return first;
  Tensor index = node.iota({steps}, 0).convert(type);
  Tensor step = (last - first) / static_cast<double>(steps - 1);
  return prim::select(index < static_cast<double>(steps / 2), first + step * index,
                      last - step * (static_cast<double>(steps - 1) - index));
}
Entities linspace(Node &node) {
  Type type = node.elementType("dtype", defaultFloat(node));
  return {spaced(node, type).convert(type)};
}
/// Powers of the base, whose exponents are spaced so.
Entities logspace(Node &node) {
  Type type = node.elementType("dtype", defaultFloat(node));
  Tensor exponents = spaced(node, type);
  return {prim::pow(exponents.full(node.number("base")), exponents).convert(type)};
}

Entities eye(Node &node) {
  int64_t rows = node.integer("n"), columns = node.has("m") ? node.integer("m") : rows;
  Type type = node.anyElementType("dtype", defaultFloat(node));
  auto complex = dyn_cast<ComplexType>(type);
  Type part = complex ? complex.getElementType() : type;
  SmallVector<int64_t> shape = {rows, columns};
  tensorType(shape, part);
  Tensor ones = prim::equal(node.iota(shape, 0), node.iota(shape, 1)).convert(part);
  return {complex ? Complex(ones, ones.full(0.0)).value(node) : ones.get()};
}

Entities scalarTensor(Node &node) { return filledAs(node, {}, "s"); }

/// The coordinates of a grid: by matrix ("ij") or with the first two exchanged ("xy").
Entities meshgrid(Node &node) {
  TensorList axes = node.anyTensors("tensors");
  bool exchanged = node.string("indexing") == "xy" && axes.size() > 1;
  SmallVector<int64_t> shape;
  for (Value axis : axes)
    shape.push_back(cast<RankedTensorType>(axis.getType()).getNumElements());
  if (exchanged)
    std::swap(shape[0], shape[1]);
  std::vector<Entity> results;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t d = static_cast<int64_t>(exchanged && i < 2 ? 1 - i : i);
    int64_t extent = shape[d];
    results.push_back(mapParts(
        node, axis, [&](Tensor part) { return part.reshape({extent}).broadcast(shape, {d}); }));
    SmallVector<int64_t> alone(shape.size(), 1);
    alone[d] = shape[d];
    if (std::optional<Layout> view = node.layoutOfElement(i).viewed(alone))
      node.lay(view->expanded(shape));
    else
      node.lay(Layout::unknown(shape, "meshgrid"));
  }
  return {Entity::ofSequence(std::move(results))};
}

/// Pairs of row and column of a triangle, row by row.
template <bool upper> Entities triangleIndices(Node &node) {
  int64_t rows = node.integer("row"), columns = node.integer("col"),
          offset = node.integer("offset");
  if (rows < 0 || columns < 0 || rows > 1 << 16 || columns > 1 << 16)
    fail("a triangle of " + Twine(rows) + " by " + Twine(columns));
  SmallVector<int64_t> first, second;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      if (upper ? c - r >= offset : c - r <= offset) {
        first.push_back(r);
        second.push_back(c);
      }
  int64_t count = static_cast<int64_t>(first.size());
  first.append(second);
  Type type = node.elementType("dtype", node.builder().getI64Type());
  return {node.integers(first, {2, count}).convert(type)};
}

} // namespace

ArrayRef<OpRow> accc::aten::factoryOps() {
  static const OpRow rows[] = {
      {"full(size, fill_value, *, dtype=None)", full, Alias::None, selected::ofSizes},
      {"full_like(self, fill_value, *, dtype=None)", fullLike},
      {"new_full(self, size, fill_value, *, dtype=None)", newFull, Alias::None, selected::ofSizes},
      {"fill(self, value)", fill},
      {"zeros(size, *, dtype=None)", constant<0>, Alias::None, selected::ofSizes},
      {"_efficientzerotensor(size, *, dtype=None)", constant<0>}, // of forward-mode derivatives
      {"_new_zeros_with_same_feature_meta(self, other, *, self_num_batch_dims=0)", zeroTangent},
      {"ones(size, *, dtype=None)", constant<1>, Alias::None, selected::ofSizes},
      {"zeros_like(self, *, dtype=None)", constantLike<0>},
      {"ones_like(self, *, dtype=None)", constantLike<1>},
      {"zero(self, *, dtype=None)", constantLike<0>},
      {"new_zeros(self, size, *, dtype=None)", newConstant<0>, Alias::None, selected::ofSizes},
      {"new_ones(self, size, *, dtype=None)", newConstant<1>, Alias::None, selected::ofSizes},
      // What is in them is nobody's business; zeros are the same in every run.
      {"empty(size, *, dtype=None)", constant<0>, Alias::None, selected::ofSizes},
      {"empty_like(self, *, dtype=None)", constantLike<0>},
      {"new_empty(self, size, *, dtype=None)", newConstant<0>, Alias::None, selected::ofSizes},
      {"new_empty_strided(self, size, stride, *, dtype=None)", newConstant<0>},
      {"empty_strided(size, stride, *, dtype=None)", constant<0>},
      {"empty_permuted(size, physical_layout=[], *, dtype=None)", constant<0>, Alias::None,
       selected::ofSizes},
      {"arange(end, *, dtype=None, start=0, step=1)", arange},
      {"arange.start(start, end, *, dtype=None, step=1)", arange},
      {"arange.start_step(start, end, step=1, *, dtype=None)", arange},
      {"linspace(start, end, steps, *, dtype=None)", linspace},
      {"logspace(start, end, steps, base=10.0, *, dtype=None)", logspace},
      {"eye(n, *, dtype=None, m=None)", eye},
      {"eye.m(n, m, *, dtype=None)", eye},
      {"scalar_tensor(s, *, dtype=None)", scalarTensor},
      {"meshgrid(tensors, indexing='ij')", meshgrid, Alias::View},
      {"tril_indices(row, col, offset=0, *, dtype=None)", triangleIndices<false>},
      {"triu_indices(row, col, offset=0, *, dtype=None)", triangleIndices<true>},
  };
  return rows;
}
