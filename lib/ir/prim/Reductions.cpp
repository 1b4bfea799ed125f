// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Combine.h"
#include "ir/prim/Infer.h"
#include "ir/prim/StridedLoop.h"
#include "ir/prim/Tensor.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Reductions.cpp.inc"

namespace {

/// Calls body(offset of the first element, step to the next) for every line along `dimension`.
template <typename Body> void forEachLine(const ReferenceArray &x, int64_t dimension, Body body) {
  SmallVector<int64_t> lines(x.shape), strides = x.strides();
  lines[dimension] = 1;
  stridedLoop<1>(lines, {StridedWalk{SmallVector<int64_t, 6>(strides)}},
                 [&](int64_t start) { body(start, strides[dimension]); });
}

/// The running product of x along its last dimension, without the element itself.
Tensor exclusiveProduct(Tensor x) {
  int64_t last = x.rank() - 1;
  SmallVector<int64_t> low(x.rank(), 0), high(x.rank(), 0);
  low[last] = 1;
  high[last] = -1;
  return cumulative(ReduceKind::prod, x.pad(1.0, low, high), last);
}

/// For every element the product of all others along the last dimension: of those before it times
/// those after it, so that zeros need no division.
Tensor productOfOthers(Tensor x) {
  int64_t last = x.rank() - 1;
  return exclusiveProduct(x) * exclusiveProduct(x.reverse(last)).reverse(last);
}

/// prim.reduce of products: moves the reduced dimensions last and makes them one.
Tensor productOfOthers(Tensor x, ArrayRef<int64_t> dimensions) {
  SmallVector<int64_t> permutation, shape;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (!llvm::is_contained(dimensions, d))
      permutation.push_back(d);
  llvm::append_range(permutation, dimensions);
  Tensor moved = x.transpose(permutation);
  int64_t kept = x.rank() - static_cast<int64_t>(dimensions.size());
  llvm::append_range(shape, moved.shape().take_front(kept));
  shape.push_back(ReferenceArray::count(moved.shape().drop_front(kept)));
  SmallVector<int64_t> inverse(x.rank());
  for (auto [to, from] : llvm::enumerate(permutation))
    inverse[from] = static_cast<int64_t>(to);
  return productOfOthers(moved.reshape(shape)).reshape(moved.shape()).transpose(inverse);
}

/// The running sum from the other end: element i has those of i, i + 1, ...
Tensor sumOfRest(Tensor x, int64_t dimension) {
  return cumulative(ReduceKind::sum, x.reverse(dimension), dimension).reverse(dimension);
}

/// dy taken to elements of another place along `dimension` of a tensor of such a type, where what
/// meets adds up: element j of dy goes to place[j] (i64). As a row-major index: the place along the
/// dimension, and the element's own coordinates along the others.
Tensor takeTo(Tensor dy, Tensor place, int64_t dimension, RankedTensorType to) {
  SmallVector<int64_t> strides = ReferenceArray(to.getShape()).strides();
  Tensor index = place * static_cast<double>(strides[dimension]);
  for (int64_t d = 0; d < dy.rank(); ++d)
    if (d != dimension && dy.dim(d) > 1)
      index = index +
              iota(dy.getBuilder(), dy.getLoc(), place.type(), d) * static_cast<double>(strides[d]);
  Tensor zeros = dy.full(RankedTensorType::get({to.getNumElements()}, dy.elementType()), 0.0);
  return zeros.scatter(index.reshape({dy.size()}), dy.reshape({dy.size()}), 0, ScatterKind::add)
      .reshape(to.getShape());
}

/// Sorts each `run` elements along the dimension, stably, from the first on: the values, and their
/// places along the dimension.
void sortRuns(const ReferenceArray &x, int64_t dimension, int64_t run, ElementOrder order,
              SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray values(x.shape), indices(x.shape);
  int64_t extent = x.shape[dimension];
  std::vector<int64_t> places(extent);
  if (extent > 0)
    forEachLine(x, dimension, [&](int64_t start, int64_t step) {
      std::iota(places.begin(), places.end(), 0);
      for (int64_t first = 0; first < extent; first += run)
        llvm::sort(places.begin() + first, places.begin() + std::min(first + run, extent),
                   [&](int64_t i, int64_t j) {
                     double a = x.values[start + i * step], b = x.values[start + j * step];
                     return order.precedes(a, b) || (!order.precedes(b, a) && i < j);
                   });
      for (auto [to, from] : llvm::enumerate(places)) {
        values.values[start + to * step] = x.values[start + from * step];
        indices.values[start + to * step] = static_cast<double>(from);
      }
    });
  results.push_back(std::move(values));
  results.push_back(std::move(indices));
}

/// The places [first, end) of every line along the dimension.
ReferenceArray placesOf(const ReferenceArray &x, int64_t dimension, int64_t first, int64_t end) {
  SmallVector<int64_t> shape(x.shape), strides = x.strides();
  shape[dimension] = end - first;
  ReferenceArray y(shape);
  StridedWalk walk{SmallVector<int64_t, 6>(strides), first * strides[dimension]};
  int64_t next = 0;
  stridedLoop<1>(shape, {walk}, [&](int64_t from) { y.values[next++] = x.values[from]; });
  return y;
}

// What prim.sort and prim.merge have in common: they give the operand's elements in another order,
// and the indices of where these came from.

template <typename Op> LogicalResult gradientOfOrdered(Op op, Gradients &gradients) {
  if (!gradients.wants(op.getOperand()) || !gradients.has(op.getValues()))
    return success();
  Tensor dy(gradients.builder(), op.getLoc(), gradients.of(op.getValues()));
  gradients.add(op.getOperand(),
                takeTo(dy, dy.wrap(op.getIndices()), op.getDimension(), op.getOperand().getType()));
  return success();
}

template <typename Op> TypedAttr lastOfSort(Op op, Type elementType) {
  return ElementOrder::ofSort(op.getDescending())
      .last(elementType, isUnsignedElement(getElementTypeOrSelf(op.getOperand())));
}

template <typename Op> Value emitSortPrecedes(Op op, OpBuilder &builder, Value a, Value b) {
  bool isUnsigned = isUnsignedElement(getElementTypeOrSelf(op.getOperand()));
  return ElementOrder::ofSort(op.getDescending())
      .emitPrecedes(builder, op.getLoc(), isUnsigned, a, b);
}

/// Gradient of the running product y of x. An element before the first zero is in the products from
/// itself on, each y_k / x_i. The first zero itself is in the same, taken without it. What follows
/// it is in products that stay zero.
Tensor runningProductGradient(Tensor dy, Tensor x, Tensor y, int64_t dimension) {
  Tensor isZero = equal(x, 0.0);
  Tensor zeros = cumulative(ReduceKind::sum, isZero.convert(x.elementType()), dimension);
  Tensor isFirst = bitAnd(isZero, equal(zeros, 1.0));
  Tensor without = cumulative(ReduceKind::prod, select(isFirst, 1.0, x), dimension);
  Tensor before = sumOfRest(dy * y, dimension) / select(isZero, 1.0, x);
  return select(isFirst, sumOfRest(dy * without, dimension),
                select(equal(zeros, 0.0), before, 0.0));
}

/// Gradient of the running maximum or minimum y of x: what is in y_k came from the last place up to
/// k whose x was the extreme there (as in PyTorch, no split among ties).
Tensor runningExtremeGradient(Tensor dy, Tensor x, Tensor y, int64_t dimension) {
  RankedTensorType indexType = x.type().clone(IntegerType::get(x.type().getContext(), 64));
  Tensor position = iota(x.getBuilder(), x.getLoc(), indexType, dimension);
  Tensor isOther = bitAnd(notEqual(x, y), equal(x, x)); // NaN is an extreme, too
  Tensor place =
      cumulative(ReduceKind::max, select(isOther, position.full(0.0), position), dimension);
  return takeTo(dy, place, dimension, x.type());
}

/// Those that are left of an operand's dimensions.
SmallVector<ChunkedDimension> keptDimensions(Value operand, ArrayRef<int64_t> reduced) {
  SmallVector<ChunkedDimension> dimensions;
  int64_t place = 0;
  for (int64_t d = 0; d < tensorType(operand).getRank(); ++d)
    if (!llvm::is_contained(reduced, d))
      dimensions.push_back({{d}, place++});
  return dimensions;
}

} // namespace

// ---- reduce ----

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand());
  ArrayRef<int64_t> dimensions = adaptor.getDimensions();
  if (failed(checkDimensions<ReduceOp>(loc, "dimensions", dimensions, operand.getRank())))
    return failure();
  if (!llvm::is_sorted(dimensions))
    return inferError<ReduceOp>(loc, "'dimensions' must increase");
  bool logical = adaptor.getKind() == ReduceKind::all || adaptor.getKind() == ReduceKind::any;
  if (logical != operand.getElementType().isInteger(1))
    return inferError<ReduceOp>(loc, "of kind ", stringifyReduceKind(adaptor.getKind()), " takes ",
                                logical ? "booleans" : "numbers", ", but the operand is ", operand);
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < operand.getRank(); ++d)
    if (!llvm::is_contained(dimensions, d))
      shape.push_back(operand.getDimSize(d));
  types.push_back(operand.clone(shape));
  return success();
}

// sum: dy everywhere. max, min: dy shared evenly by the elements that equal the result; of a result
// that is NaN there are none, and every element has 0 / 0, as in PyTorch. prod: dy times the
// product of the other elements. all and any have no float operand.
LogicalResult ReduceOp::differentiate(Gradients &gradients) {
  if (!gradients.wants(getOperand()))
    return success();
  OpBuilder &builder = gradients.builder();
  Tensor x(builder, getLoc(), getOperand()), dy = x.wrap(gradients.of(getResult()));
  auto spread = [&](Tensor t) { return t.broadcastAlong(x.shape(), getDimensions()); };
  switch (getKind()) {
  case ReduceKind::sum:
    gradients.add(getOperand(), spread(dy));
    break;
  case ReduceKind::prod:
    gradients.add(getOperand(), spread(dy) * productOfOthers(x, getDimensions()));
    break;
  case ReduceKind::max:
  case ReduceKind::min: {
    Tensor ties = equal(x, spread(x.wrap(getResult())));
    Tensor count = sum(ties.convert(x.elementType()), getDimensions());
    Tensor others = count.full(0.0) / count;
    gradients.add(getOperand(), select(ties, spread(dy / count), spread(others)));
    break;
  }
  case ReduceKind::all:
  case ReduceKind::any:
    break;
  }
  return success();
}

LogicalResult ReduceOp::evaluate(ArrayRef<ReferenceArray> operands,
                                 SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &x = operands[0];
  RankedTensorType type = tensorType(getResult());
  ReferenceArray y(type.getShape(), neutralValue(getKind(), type.getElementType()));
  StridedWalk from{SmallVector<int64_t, 6>(x.strides())}, to;
  SmallVector<int64_t> toStrides = y.strides();
  for (int64_t d = 0, next = 0; d < x.rank(); ++d)
    to.strides.push_back(llvm::is_contained(getDimensions(), d) ? 0 : toStrides[next++]);
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  stridedLoop<2>(x.shape, {from, to}, [&, kind = getKind()](int64_t i, int64_t o) {
    y.values[o] = combineValues(kind, integer, y.values[o], x.values[i]);
  });
  results.push_back(std::move(y));
  return success();
}

ArrayRef<StringRef> ReduceOp::getAttributesOfSomeDimensions() {
  static constexpr StringRef names[] = {"dimensions"};
  return names;
}

SmallVector<ChunkedDimension> ReduceOp::getChunkedDimensions() {
  SmallVector<ChunkedDimension> dimensions = keptDimensions(getOperand(), getDimensions());
  if (getKind() == ReduceKind::sum && maySumParts(tensorType(getResult()).getElementType()))
    for (int64_t d : getDimensions())
      dimensions.push_back({{d}, std::nullopt});
  return dimensions;
}

TypedAttr ReduceOp::getInitial(Type elementType) {
  return neutralElement(getKind(), elementType,
                        isUnsignedElement(getElementTypeOrSelf(getOperand())));
}

Value ReduceOp::emitCombine(OpBuilder &builder, Value a, Value b) {
  return emitCombiner(builder, getLoc(), getKind(),
                      isUnsignedElement(getElementTypeOrSelf(getOperand())), a, b);
}

// ---- arg_reduce ----

LogicalResult ArgReduceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand());
  int64_t dimension = adaptor.getDimension();
  if (adaptor.getKind() != ReduceKind::max && adaptor.getKind() != ReduceKind::min)
    return inferError<ArgReduceOp>(loc, "'kind' must be max or min, but is ",
                                   stringifyReduceKind(adaptor.getKind()));
  if (failed(checkDimension<ArgReduceOp>(loc, "dimension", dimension, operand.getRank())))
    return failure();
  if (operand.getDimSize(dimension) == 0)
    return inferError<ArgReduceOp>(loc, "dimension ", dimension, " has no elements");
  SmallVector<int64_t> shape(operand.getShape());
  shape.erase(shape.begin() + dimension);
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}

LogicalResult ArgReduceOp::evaluate(ArrayRef<ReferenceArray> operands,
                                    SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &x = operands[0];
  ReferenceArray y(tensorType(getResult()).getShape());
  int64_t extent = x.shape[getDimension()], next = 0;
  ElementOrder order = ElementOrder::ofExtreme(getKind());
  forEachLine(x, getDimension(), [&](int64_t start, int64_t step) {
    int64_t best = 0;
    for (int64_t i = 1; i < extent; ++i)
      if (order.precedes(x.values[start + i * step], x.values[start + best * step]))
        best = i;
    y.values[next++] = static_cast<double>(best);
  });
  results.push_back(std::move(y));
  return success();
}

SmallVector<ChunkedDimension> ArgReduceOp::getChunkedDimensions() {
  return keptDimensions(getOperand(), static_cast<int64_t>(getDimension()));
}

Value ArgReduceOp::emitPrecedes(OpBuilder &builder, Value a, Value b) {
  return ElementOrder::ofExtreme(getKind()).emitPrecedes(
      builder, getLoc(), isUnsignedElement(getElementTypeOrSelf(getOperand())), a, b);
}

TypedAttr ArgReduceOp::getLast(Type elementType) {
  return ElementOrder::ofExtreme(getKind()).last(
      elementType, isUnsignedElement(getElementTypeOrSelf(getOperand())));
}

// ---- cumulative ----

LogicalResult CumulativeOp::verify() {
  if (getOperand().getType() != getResult().getType())
    return emitOpError("operand is ")
           << getOperand().getType() << " but the result " << getResult().getType();
  if (getKind() == ReduceKind::all || getKind() == ReduceKind::any)
    return emitOpError("'kind' must be sum, prod, max or min, but is ")
           << stringifyReduceKind(getKind());
  return checkDimension<CumulativeOp>(getLoc(), "dimension", getDimension(),
                                      tensorType(getOperand()).getRank());
}

LogicalResult CumulativeOp::differentiate(Gradients &gradients) {
  if (!gradients.wants(getOperand()))
    return success();
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getResult()));
  Tensor x = dy.wrap(getOperand()), y = dy.wrap(getResult());
  int64_t dimension = getDimension();
  switch (getKind()) {
  case ReduceKind::sum: // element i goes into the sums i, i + 1, ...
    gradients.add(getOperand(), sumOfRest(dy, dimension));
    break;
  case ReduceKind::prod:
    gradients.add(getOperand(), runningProductGradient(dy, x, y, dimension));
    break;
  case ReduceKind::max:
  case ReduceKind::min:
    gradients.add(getOperand(), runningExtremeGradient(dy, x, y, dimension));
    break;
  case ReduceKind::all:
  case ReduceKind::any: // cumulative_c2
    llvm_unreachable("not a kind of cumulative");
  }
  return success();
}

LogicalResult CumulativeOp::evaluate(ArrayRef<ReferenceArray> operands,
                                     SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray y = operands[0];
  int64_t extent = y.shape[getDimension()];
  auto integer = dyn_cast<IntegerType>(tensorType(getResult()).getElementType());
  if (extent > 0)
    forEachLine(y, getDimension(), [&, kind = getKind()](int64_t start, int64_t step) {
      for (int64_t i = 1; i < extent; ++i)
        y.values[start + i * step] = combineValues(kind, integer, y.values[start + (i - 1) * step],
                                                   y.values[start + i * step]);
    });
  results.push_back(std::move(y));
  return success();
}

SmallVector<ChunkedDimension> CumulativeOp::getChunkedDimensions() {
  return dimensionsThat(*this,
                        [&](int64_t d) { return d != static_cast<int64_t>(getDimension()); });
}

Value CumulativeOp::emitCombine(OpBuilder &builder, Value a, Value b) {
  return emitCombiner(builder, getLoc(), getKind(),
                      isUnsignedElement(getElementTypeOrSelf(getOperand())), a, b);
}

// ---- sort ----

LogicalResult SortOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand());
  int64_t dimension = adaptor.getDimension();
  if (failed(checkDimension<SortOp>(loc, "dimension", dimension, operand.getRank())))
    return failure();
  SmallVector<int64_t> shape(operand.getShape());
  if (std::optional<ArrayRef<int64_t>> range = adaptor.getRange()) {
    if (range->size() != 2 || (*range)[0] < 0 || (*range)[0] > (*range)[1] ||
        (*range)[1] > shape[dimension])
      return inferError<SortOp>(loc, "'range' is [", *range,
                                "] where two places in order, from 0 to ", shape[dimension],
                                ", are needed");
    shape[dimension] = (*range)[1] - (*range)[0];
  }
  types.push_back(operand.clone(shape));
  types.push_back(operand.clone(shape, IntegerType::get(context, 64)));
  return success();
}

// Every cotangent goes back to where its value came from.
LogicalResult SortOp::differentiate(Gradients &gradients) {
  return gradientOfOrdered(*this, gradients);
}

LogicalResult SortOp::evaluate(ArrayRef<ReferenceArray> operands,
                               SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &x = operands[0];
  int64_t extent = x.shape[getDimension()];
  sortRuns(x, getDimension(), std::max<int64_t>(1, extent), ElementOrder::ofSort(getDescending()),
           results);
  if (getRange())
    for (ReferenceArray &whole : results)
      whole = placesOf(whole, getDimension(), getFirst(), getEnd());
  return success();
}

int64_t SortOp::getExtent() {
  return tensorType(getOperand()).getDimSize(static_cast<unsigned>(getDimension()));
}
int64_t SortOp::getFirst() { return getRange() ? getRange()->front() : 0; }
int64_t SortOp::getEnd() { return getRange() ? getRange()->back() : getExtent(); }

TypedAttr SortOp::getLast(Type elementType) { return lastOfSort(*this, elementType); }

Value SortOp::emitPrecedes(OpBuilder &builder, Value a, Value b) {
  return emitSortPrecedes(*this, builder, a, b);
}

// ---- merge ----

LogicalResult MergeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                        Adaptor adaptor, SmallVectorImpl<Type> &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand());
  if (failed(checkDimension<MergeOp>(loc, "dimension", adaptor.getDimension(), operand.getRank())))
    return failure();
  if (adaptor.getRun() <= 0)
    return inferError<MergeOp>(loc, "'run' is ", adaptor.getRun(), ", but must be positive");
  types.push_back(operand);
  types.push_back(operand.clone(IntegerType::get(context, 64)));
  return success();
}

LogicalResult MergeOp::differentiate(Gradients &gradients) {
  return gradientOfOrdered(*this, gradients);
}

LogicalResult MergeOp::evaluate(ArrayRef<ReferenceArray> operands,
                                SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &x = operands[0];
  int64_t run = getRun(), extent = x.shape[getDimension()];
  ElementOrder order = ElementOrder::ofSort(getDescending());
  bool isSorted = true;
  forEachLine(x, getDimension(), [&](int64_t start, int64_t step) {
    for (int64_t i = 1; i < extent; ++i)
      isSorted &= i % run == 0 ||
                  !order.precedes(x.values[start + i * step], x.values[start + (i - 1) * step]);
  });
  if (!isSorted)
    return emitOpError("a run of the operand is not sorted");
  sortRuns(x, getDimension(), 2 * run, order, results);
  return success();
}

TypedAttr MergeOp::getLast(Type elementType) { return lastOfSort(*this, elementType); }

Value MergeOp::emitPrecedes(OpBuilder &builder, Value a, Value b) {
  return emitSortPrecedes(*this, builder, a, b);
}
