// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Combine.h"
#include "ir/prim/Infer.h"
#include "ir/prim/Pointwise.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Indexing.cpp.inc"

namespace {

/// The shape of data[..., indices, ...].
SmallVector<int64_t> gatheredShape(ArrayRef<int64_t> data, ArrayRef<int64_t> indices,
                                   int64_t axis) {
  SmallVector<int64_t> shape(data.take_front(axis));
  llvm::append_range(shape, indices);
  llvm::append_range(shape, data.drop_front(axis + 1));
  return shape;
}

/// Data seen as [outer, extent, inner] around the axis.
struct AxisView {
  int64_t outer, extent, inner;
  AxisView(ArrayRef<int64_t> shape, int64_t axis)
      : outer(ReferenceArray::count(shape.take_front(axis))), extent(shape[axis]),
        inner(ReferenceArray::count(shape.drop_front(axis + 1))) {}
};

/// Indices lie in [0, extent).
LogicalResult checkIndices(Operation *op, const ReferenceArray &indices, int64_t extent) {
  for (double index : indices.values)
    if (!(index >= 0 && index < static_cast<double>(extent)))
      return op->emitOpError("index ")
             << static_cast<int64_t>(index) << " is out of range for extent " << extent;
  return success();
}

/// How a scatter combines an element with an update; nothing where the update replaces it.
std::optional<ReduceKind> combinerOf(ScatterKind kind) {
  switch (kind) {
  case ScatterKind::set:
    return std::nullopt;
  case ScatterKind::add:
    return ReduceKind::sum;
  case ScatterKind::mul:
    return ReduceKind::prod;
  case ScatterKind::max:
    return ReduceKind::max;
  case ScatterKind::min:
    return ReduceKind::min;
  }
  llvm_unreachable("unknown kind");
}

/// Of elements that are multiplied into one result: the product of those beside x, given how many
/// of all are zero and the product of the others. No zero is divided by.
Tensor productOfOthers(Tensor x, Tensor zeros, Tensor nonzeroProduct) {
  Tensor isZero = equal(x, 0.0);
  return select(equal(zeros, isZero.convert(x.elementType())),
                nonzeroProduct / select(isZero, 1.0, x), 0.0);
}

} // namespace

// ---- gather ----

LogicalResult GatherOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  RankedTensorType data = tensorType(adaptor.getData());
  int64_t axis = adaptor.getAxis();
  if (failed(checkDimension<GatherOp>(loc, "axis", axis, data.getRank())))
    return failure();
  types.push_back(data.clone(
      gatheredShape(data.getShape(), tensorType(adaptor.getIndices()).getShape(), axis)));
  return success();
}

// Every element of dy goes back to where its value came from; repeated indices add up: in f32, as a
// sum of 16-bit floats stops growing after some hundreds.
LogicalResult GatherOp::differentiate(Gradients &gradients) {
  if (!gradients.wants(getData()))
    return success();
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getResult()));
  RankedTensorType type = tensorType(getData());
  Tensor indices = dy.wrap(getIndices()), updates = indices.size() > 1 ? widen(dy) : dy;
  Tensor zeros = dy.full(type.clone(updates.elementType()), 0.0);
  Tensor sums = zeros.scatter(indices, updates, getAxis(), ScatterKind::add);
  gradients.add(getData(), sums.convert(type.getElementType()));
  return success();
}

LogicalResult GatherOp::evaluate(ArrayRef<ReferenceArray> operands,
                                 SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &data = operands[0], &indices = operands[1];
  AxisView view(data.shape, getAxis());
  if (failed(checkIndices(*this, indices, view.extent)))
    return failure();
  ReferenceArray result(tensorType(getResult()).getShape());
  auto to = result.values.begin();
  for (int64_t o = 0; o < view.outer; ++o)
    for (double index : indices.values)
      to = std::copy_n(data.values.begin() +
                           (o * view.extent + static_cast<int64_t>(index)) * view.inner,
                       view.inner, to);
  results.push_back(std::move(result));
  return success();
}

ArrayRef<StringRef> GatherOp::getAttributesOfSomeDimensions() {
  static constexpr StringRef names[] = {"axis"};
  return names;
}

SmallVector<ChunkedDimension> GatherOp::getChunkedDimensions() {
  int64_t axis = getAxis(), places = tensorType(getIndices()).getRank();
  SmallVector<ChunkedDimension> dimensions;
  for (int64_t d = 0; d < tensorType(getResult()).getRank(); ++d) {
    if (d >= axis && d < axis + places)
      dimensions.push_back({{std::nullopt, d - axis}, d});
    else
      dimensions.push_back({{d < axis ? d : d - places + 1, std::nullopt}, d});
  }
  return dimensions;
}

Value GatherOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  int64_t axis = getAxis(), indicesRank = tensorType(getIndices()).getRank();
  int64_t extent = tensorType(getData()).getDimSize(axis);
  Value position = emitter.element(getIndices(), index.slice(axis, indicesRank));
  SmallVector<AffineExpr> from(index.take_front(axis));
  from.push_back(emitter.symbol(position, extent, "an index of a gather is out of range"));
  if (extent == 0) // every index is wrong, and nothing is there to be read in its place
    return emitter.constant(
        cast<TypedAttr>(emitter.builder().getZeroAttr(signless(getType().getElementType()))));
  llvm::append_range(from, index.drop_front(axis + indicesRank));
  return emitter.element(getData(), from);
}

// ---- scatter ----

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  RankedTensorType data = tensorType(adaptor.getData()), updates = tensorType(adaptor.getUpdates());
  int64_t axis = adaptor.getAxis();
  if (failed(checkDimension<ScatterOp>(loc, "axis", axis, data.getRank())))
    return failure();
  auto expected =
      data.clone(gatheredShape(data.getShape(), tensorType(adaptor.getIndices()).getShape(), axis));
  if (updates != expected)
    return inferError<ScatterOp>(loc, "'updates' is ", updates, ", but data and indices ask for ",
                                 expected);
  types.push_back(data);
  return success();
}

// set: what was overwritten has no gradient, what was written takes it. add: both have it. mul: dy
// times the product of all else that went into the element. max, min: dy shared evenly by the data
// and updates that equal the result.
LogicalResult ScatterOp::differentiate(Gradients &gradients) {
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getResult()));
  Tensor data = dy.wrap(getData()), indices = dy.wrap(getIndices()),
         updates = dy.wrap(getUpdates());
  Type element = dy.elementType();
  auto combined = [&](Tensor ofData, Tensor ofUpdates, ScatterKind kind) {
    return ofData.scatter(indices, ofUpdates, getAxis(), kind);
  };
  auto atUpdates = [&](Tensor ofData) { return ofData.gather(indices, getAxis()); };
  auto add = [&](auto ofData, auto ofUpdates) {
    if (gradients.wants(getData()))
      gradients.add(getData(), ofData());
    if (gradients.wants(getUpdates()))
      gradients.add(getUpdates(), ofUpdates());
  };
  switch (getKind()) {
  case ScatterKind::set:
    add([&] { return combined(dy, updates.full(0.0), ScatterKind::set); },
        [&] { return atUpdates(dy); });
    break;
  case ScatterKind::add:
    add([&] { return dy; }, [&] { return atUpdates(dy); });
    break;
  case ScatterKind::mul: {
    Tensor zeroData = equal(data, 0.0), zeroUpdates = equal(updates, 0.0);
    Tensor zeros =
        combined(zeroData.convert(element), zeroUpdates.convert(element), ScatterKind::add);
    Tensor product =
        combined(select(zeroData, 1.0, data), select(zeroUpdates, 1.0, updates), ScatterKind::mul);
    add([&] { return dy * productOfOthers(data, zeros, product); },
        [&] {
          return atUpdates(dy) * productOfOthers(updates, atUpdates(zeros), atUpdates(product));
        });
    break;
  }
  case ScatterKind::max:
  case ScatterKind::min: {
    Tensor result = dy.wrap(getResult());
    Tensor tiesData = equal(data, result), tiesUpdates = equal(updates, atUpdates(result));
    Tensor share =
        dy / combined(tiesData.convert(element), tiesUpdates.convert(element), ScatterKind::add);
    add([&] { return select(tiesData, share, 0.0); },
        [&] { return select(tiesUpdates, atUpdates(share), 0.0); });
    break;
  }
  }
  return success();
}

LogicalResult ScatterOp::evaluate(ArrayRef<ReferenceArray> operands,
                                  SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &indices = operands[1], &updates = operands[2];
  AxisView view(operands[0].shape, getAxis());
  if (failed(checkIndices(*this, indices, view.extent)))
    return failure();
  if (getIndicesAreSorted() && !llvm::is_sorted(indices.values))
    return emitOpError("the indices are not sorted");
  if (getUniqueIndices()) {
    std::vector<double> sorted = indices.values;
    llvm::sort(sorted);
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      return emitOpError("the indices are not unique");
  }
  ReferenceArray result = operands[0];
  auto integer = dyn_cast<IntegerType>(tensorType(getResult()).getElementType());
  std::optional<ReduceKind> combiner = combinerOf(getKind());
  const double *update = updates.values.data();
  for (int64_t o = 0; o < view.outer; ++o)
    for (double index : indices.values) {
      double *to =
          result.values.data() + (o * view.extent + static_cast<int64_t>(index)) * view.inner;
      for (int64_t i = 0; i < view.inner; ++i)
        to[i] = combiner ? combineValues(*combiner, integer, to[i], update[i]) : update[i];
      update += view.inner;
    }
  results.push_back(std::move(result));
  return success();
}

ArrayRef<StringRef> ScatterOp::getAttributesOfSomeDimensions() {
  static constexpr StringRef names[] = {"axis"};
  return names;
}

bool ScatterOp::isPermutation() {
  return getUniqueIndices() &&
         tensorType(getIndices()).getNumElements() ==
             tensorType(getData()).getDimSize(static_cast<unsigned>(getAxis()));
}

Value ScatterOp::emitCombine(OpBuilder &builder, Value a, Value b) {
  std::optional<ReduceKind> combiner = combinerOf(getKind());
  return combiner ? emitCombiner(builder, getLoc(), *combiner,
                                 isUnsignedElement(getElementTypeOrSelf(getData())), a, b)
                  : b;
}
