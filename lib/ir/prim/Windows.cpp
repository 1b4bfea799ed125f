// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Combine.h"
#include "ir/prim/Geometry.h"
#include "ir/prim/StridedLoop.h"
#include "ir/prim/Tensor.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Windows.cpp.inc"

namespace {

/// Calls body(row-major offset of the element) for the elements of the window at `position` that
/// lie in the operand, row-major.
template <typename Body>
void forEachInWindow(const WindowGeometry &geometry, ArrayRef<int64_t> strides,
                     ArrayRef<int64_t> position, Body body) {
  SmallVector<int64_t, 6> counts;
  StridedWalk walk;
  for (size_t d = 0; d < position.size(); ++d) {
    int64_t dilation = geometry.dilations[d];
    int64_t origin = position[d] * geometry.strides[d] - geometry.low[d];
    int64_t first = origin >= 0 ? 0 : llvm::divideCeil(-origin, dilation);
    int64_t last =
        geometry.extents[d] <= origin ? 0 : (geometry.extents[d] - 1 - origin) / dilation + 1;
    last = std::min(last, geometry.window[d]);
    counts.push_back(std::max<int64_t>(last - first, 0));
    walk.strides.push_back(dilation * strides[d]);
    walk.start += (origin + first * dilation) * strides[d];
  }
  stridedLoop<1>(counts, {walk}, body);
}

/// The order in which the greatest element of a window is the first.
constexpr ElementOrder kGreatestFirst{/*descending=*/true, /*nanFirst=*/true};

/// The attributes of windows, with an entry for each dimension.
constexpr StringRef kWindowAttributes[] = {"window", "strides", "dilations", "pad_low", "pad_high"};

/// Where the first greatest element of the window is; -1 if it has no element.
int64_t greatestInWindow(const WindowGeometry &geometry, const ReferenceArray &x,
                         ArrayRef<int64_t> strides, ArrayRef<int64_t> position) {
  int64_t best = -1;
  forEachInWindow(geometry, strides, position, [&](int64_t at) {
    if (best < 0 || kGreatestFirst.precedes(x.values[at], x.values[best]))
      best = at;
  });
  return best;
}

/// dx of window sums along dimension d: i = q stride + r - low lies in the windows q, q - 1, ...,
/// as many as window / stride, and one more where r < window % stride.
Tensor windowSumGradientAlong(ReduceWindowOp op, Tensor dy, int64_t d) {
  int64_t window = op.getWindow()[d], low = op.getPadLow()[d];
  int64_t stride = dy.dim(d) == 1 ? window : op.getStrides()[d];
  int64_t extent = tensorType(op.getOperand()).getDimSize(d), rank = dy.rank();
  int64_t steps = (extent + low + stride - 1) / stride; // values of q
  int64_t whole = window / stride, rest = window % stride;
  auto padded = [&](int64_t before) {
    SmallVector<int64_t> lows(rank, 0), highs(rank, 0);
    lows[d] = before;
    highs[d] = steps - before - dy.dim(d);
    return dy.pad(0.0, lows, highs);
  };
  Tensor sum = padded(0);
  if (whole > 1) {
    SmallVector<int64_t> ones(rank, 1), lows(rank, 0), zeros(rank, 0), sizes = ones;
    sizes[d] = whole;
    lows[d] = whole - 1;
    sum = dy.wrap(dy.getBuilder().create<ReduceWindowOp>(dy.getLoc(), sum, ReduceKind::sum, sizes,
                                                         ones, ones, lows, zeros));
  } else if (whole == 0) {
    sum = sum.full(0.0);
  }
  SmallVector<int64_t> shape(sum.shape()), kept = llvm::to_vector(llvm::seq<int64_t>(0, rank + 1));
  shape.insert(shape.begin() + d + 1, stride);
  kept.erase(kept.begin() + d + 1);
  Tensor spread = sum.broadcast(shape, kept);
  if (rest > 0) {
    Tensor place = iota(dy.getBuilder(), dy.getLoc(),
                        RankedTensorType::get(shape, dy.getBuilder().getI64Type()), d + 1);
    spread = select(place < static_cast<double>(rest),
                    spread + padded(whole).broadcast(shape, kept), spread);
  }
  SmallVector<int64_t> joined(sum.shape());
  joined[d] *= stride;
  return spread.reshape(joined).sliceDim(d, low, low + extent);
}

/// dx of large window sums without dilation, dimension by dimension.
Tensor largeWindowSumGradient(ReduceWindowOp op, Tensor dy) {
  Type type = dy.elementType();
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32) // what is between is not rounded
    dy = dy.convert(dy.getBuilder().getF32Type());
  for (int64_t d = 0; d < dy.rank(); ++d)
    if (op.getWindow()[d] > 1 || op.getStrides()[d] > 1 || op.getPadLow()[d] != 0 ||
        dy.dim(d) != tensorType(op.getOperand()).getDimSize(d))
      dy = windowSumGradientAlong(op, dy, d);
  return dy.convert(type);
}

/// dx of a window sum: dx[i] = sum of dy[o] over all o, w with o * stride + w * dilation - low = i.
/// With dy spread by the stride this is again a window sum, now of stride 1.
Tensor windowSumGradient(ReduceWindowOp op, Tensor dy) {
  auto isOne = [](int64_t n) { return n == 1; };
  if (isLargeWindow(op.getWindow()) && dy.size() > 0 && llvm::all_of(op.getDilations(), isOne))
    return largeWindowSumGradient(op, dy);
  SmallVector<int64_t> low, high, interior, ones(dy.rank(), 1), zeros(dy.rank(), 0);
  for (int64_t d = 0; d < dy.rank(); ++d) {
    int64_t spread = dy.dim(d) == 0 ? 0 : (dy.dim(d) - 1) * op.getStrides()[d] + 1;
    int64_t reach = (op.getWindow()[d] - 1) * op.getDilations()[d];
    low.push_back(reach - op.getPadLow()[d]);
    high.push_back(tensorType(op.getOperand()).getDimSize(d) + op.getPadLow()[d] - spread);
    interior.push_back(op.getStrides()[d] - 1);
  }
  Tensor spread = dy.pad(0.0, low, high, interior);
  return dy.wrap(dy.getBuilder().create<ReduceWindowOp>(
      dy.getLoc(), spread, ReduceKind::sum, op.getWindow(), ones, op.getDilations(), zeros, zeros));
}

} // namespace

// ---- reduce_window ----

LogicalResult ReduceWindowOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                               Adaptor adaptor, SmallVectorImpl<Type> &types) {
  WindowGeometry geometry = WindowGeometry::of(adaptor, adaptor.getOperand());
  if (failed(geometry.check<ReduceWindowOp>(loc)))
    return failure();
  ReduceKind kind = adaptor.getKind();
  if (kind != ReduceKind::sum && kind != ReduceKind::max && kind != ReduceKind::min)
    return inferError<ReduceWindowOp>(loc, "'kind' must be sum, max or min, but is ",
                                      stringifyReduceKind(kind));
  types.push_back(tensorType(adaptor.getOperand()).clone(geometry.positions()));
  return success();
}

// sum: the transposed window sum. max: each window's dy to its first greatest element; min: the
// same of -x.
LogicalResult ReduceWindowOp::differentiate(Gradients &gradients) {
  if (!gradients.wants(getOperand()))
    return success();
  OpBuilder &builder = gradients.builder();
  Tensor x(builder, getLoc(), getOperand()), dy = x.wrap(gradients.of(getResult()));
  if (getKind() == ReduceKind::sum) {
    gradients.add(getOperand(), windowSumGradient(*this, dy));
    return success();
  }
  Tensor greatest = getKind() == ReduceKind::max ? x : -x;
  gradients.add(getOperand(),
                builder.create<WindowScatterOp>(getLoc(), greatest, dy, getWindow(), getStrides(),
                                                getDilations(), getPadLow(), getPadHigh()));
  return success();
}

LogicalResult ReduceWindowOp::evaluate(ArrayRef<ReferenceArray> operands,
                                       SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &x = operands[0];
  WindowGeometry geometry = WindowGeometry::of(*this, getOperand());
  RankedTensorType type = tensorType(getResult());
  ReferenceArray y(type.getShape());
  SmallVector<int64_t> strides = x.strides();
  double initial = neutralValue(getKind(), type.getElementType());
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  int64_t next = 0;
  ReferenceArray::forEachIndex(y.shape, [&, kind = getKind()](ArrayRef<int64_t> position) {
    double accumulator = initial;
    forEachInWindow(geometry, strides, position, [&](int64_t at) {
      accumulator = combineValues(kind, integer, accumulator, x.values[at]);
    });
    y.values[next++] = accumulator;
  });
  results.push_back(std::move(y));
  return success();
}

ArrayRef<StringRef> ReduceWindowOp::getAttributesOfAllDimensions() { return kWindowAttributes; }

TypedAttr ReduceWindowOp::getInitial(Type elementType) {
  return neutralElement(getKind(), elementType,
                        isUnsignedElement(getElementTypeOrSelf(getOperand())));
}

Value ReduceWindowOp::emitCombine(OpBuilder &builder, Value a, Value b) {
  return emitCombiner(builder, getLoc(), getKind(),
                      isUnsignedElement(getElementTypeOrSelf(getOperand())), a, b);
}

// ---- window_scatter ----

LogicalResult WindowScatterOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  WindowGeometry geometry = WindowGeometry::of(adaptor, adaptor.getOperand());
  if (failed(geometry.check<WindowScatterOp>(loc)))
    return failure();
  RankedTensorType operand = tensorType(adaptor.getOperand());
  RankedTensorType expected = operand.clone(geometry.positions());
  if (adaptor.getSource().getType() != expected)
    return inferError<WindowScatterOp>(loc, "'source' is ", adaptor.getSource().getType(),
                                       ", but the windows ask for ", expected);
  types.push_back(operand);
  return success();
}

// Linear in the source: dsource[o] = dy at the greatest element of window o, and 0 where it has
// none. The choice itself is constant almost everywhere, so the operand's gradient is zero.
LogicalResult WindowScatterOp::differentiate(Gradients &gradients) {
  if (!gradients.wants(getSource()))
    return success();
  OpBuilder &builder = gradients.builder();
  Tensor dy(builder, getLoc(), gradients.of(getResult()));
  if (dy.size() == 0) {
    gradients.add(getSource(), dy.full(tensorType(getSource()), 0.0));
    return success();
  }
  Tensor places =
      dy.wrap(builder.create<ArgWindowOp>(getLoc(), getOperand(), getWindow(), getStrides(),
                                          getDilations(), getPadLow(), getPadHigh()));
  auto taken = [&](Tensor from) { return dy.reshape({dy.size()}).gather(from, 0); };
  if (WindowGeometry::of(*this, getOperand()).hasEmptyWindow())
    gradients.add(getSource(), select(places < 0.0, 0.0, taken(max(places, 0.0))));
  else
    gradients.add(getSource(), taken(places));
  return success();
}

LogicalResult WindowScatterOp::evaluate(ArrayRef<ReferenceArray> operands,
                                        SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &x = operands[0], &source = operands[1];
  WindowGeometry geometry = WindowGeometry::of(*this, getOperand());
  ReferenceArray y(x.shape);
  SmallVector<int64_t> strides = x.strides();
  int64_t next = 0;
  ReferenceArray::forEachIndex(source.shape, [&](ArrayRef<int64_t> position) {
    int64_t at = greatestInWindow(geometry, x, strides, position);
    if (at >= 0)
      y.values[at] += source.values[next];
    ++next;
  });
  results.push_back(std::move(y));
  return success();
}

ArrayRef<StringRef> WindowScatterOp::getAttributesOfAllDimensions() { return kWindowAttributes; }

TypedAttr WindowScatterOp::getLast(Type elementType) {
  return kGreatestFirst.last(elementType, /*isUnsigned=*/false);
}

Value WindowScatterOp::emitCombine(OpBuilder &builder, Value a, Value b) {
  return emitCombiner(builder, getLoc(), ReduceKind::sum, /*isUnsigned=*/false, a, b);
}

Value WindowScatterOp::emitPrecedes(OpBuilder &builder, Value a, Value b) {
  return kGreatestFirst.emitPrecedes(builder, getLoc(), /*isUnsigned=*/false, a, b);
}

// ---- arg_window ----

LogicalResult ArgWindowOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  WindowGeometry geometry = WindowGeometry::of(adaptor, adaptor.getOperand());
  if (failed(geometry.check<ArgWindowOp>(loc)))
    return failure();
  types.push_back(RankedTensorType::get(geometry.positions(), IntegerType::get(context, 64)));
  return success();
}

LogicalResult ArgWindowOp::evaluate(ArrayRef<ReferenceArray> operands,
                                    SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &x = operands[0];
  WindowGeometry geometry = WindowGeometry::of(*this, getOperand());
  ReferenceArray y(tensorType(getResult()).getShape());
  SmallVector<int64_t> strides = x.strides();
  int64_t next = 0;
  ReferenceArray::forEachIndex(y.shape, [&](ArrayRef<int64_t> position) {
    y.values[next++] = static_cast<double>(greatestInWindow(geometry, x, strides, position));
  });
  results.push_back(std::move(y));
  return success();
}

TypedAttr ArgWindowOp::getLast(Type elementType) {
  return kGreatestFirst.last(elementType, isUnsignedElement(getElementTypeOrSelf(getOperand())));
}

Value ArgWindowOp::emitPrecedes(OpBuilder &builder, Value a, Value b) {
  return kGreatestFirst.emitPrecedes(builder, getLoc(),
                                     isUnsignedElement(getElementTypeOrSelf(getOperand())), a, b);
}
