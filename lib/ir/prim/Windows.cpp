// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Combine.h"
#include "ir/prim/Geometry.h"
#include "ir/prim/Pointwise.h"
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

/// The attributes of windows, with an entry for each dimension; extents are window_scatter's alone.
constexpr StringRef kWindowAttributes[] = {"window",  "strides",  "dilations",
                                           "pad_low", "pad_high", "extents"};

/// The row-major number in the window at `position` of its element at the row-major offset `at`.
int64_t numberInWindow(const WindowGeometry &geometry, ArrayRef<int64_t> strides,
                       ArrayRef<int64_t> position, int64_t at) {
  int64_t number = 0;
  for (size_t d = 0; d < position.size(); ++d) {
    int64_t origin = position[d] * geometry.strides[d] - geometry.low[d];
    number = number * geometry.window[d] + (at / strides[d] - origin) / geometry.dilations[d];
    at %= strides[d];
  }
  return number;
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
  gradients.add(getOperand(), greatestGradient(*this, getOperand(), getKind() == ReduceKind::min,
                                               WindowGeometry::of(*this, getOperand()), dy));
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

ArrayRef<StringRef> ReduceWindowOp::getAttributesOfAllDimensions() {
  return ArrayRef(kWindowAttributes).drop_back();
}

Value ReduceWindowOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  WindowGeometry geometry = WindowGeometry::of(*this, getOperand());
  Type element = signless(tensorType(getResult()).getElementType());
  Type accumulator = getAccumulatorType(element);
  auto convert = [&](Type to) {
    return [loc = getLoc(), to](OpBuilder &b, ValueRange v) {
      return convertFloat(b, loc, v.front(), to);
    };
  };
  Value total;
  bool isFirst = true;
  ReferenceArray::forEachIndex(getWindow(), [&](ArrayRef<int64_t> offset) {
    Value x =
        emitter.elementOr(getOperand(), geometry.elementAt(index, offset), getInitial(element));
    x = emitter.apply(x, convert(accumulator));
    total = isFirst ? x : emitter.apply({total, x}, [&](OpBuilder &b, ValueRange v) {
      return emitCombine(b, v[0], v[1]);
    });
    isFirst = false;
  });
  return emitter.apply(total, convert(element));
}

TypedAttr ReduceWindowOp::getInitial(Type elementType) {
  return neutralElement(getKind(), elementType,
                        isUnsignedElement(getElementTypeOrSelf(getOperand())));
}

Value ReduceWindowOp::emitCombine(OpBuilder &builder, Value a, Value b) {
  return emitCombiner(builder, getLoc(), getKind(),
                      isUnsignedElement(getElementTypeOrSelf(getOperand())), a, b);
}

// ---- arg_window ----

IntegerType prim::windowNumberType(MLIRContext *context, ArrayRef<int64_t> window) {
  int64_t count = 1;
  for (int64_t extent : window)
    if (llvm::MulOverflow(count, extent, count))
      count = std::numeric_limits<int64_t>::max();
  unsigned bits = count <= std::numeric_limits<int8_t>::max()    ? 8
                  : count <= std::numeric_limits<int32_t>::max() ? 32
                                                                 : 64;
  return IntegerType::get(context, bits);
}

Tensor prim::greatestGradient(Operation *forward, Value x, bool isLeast, const WindowGeometry &g,
                              Tensor dy) {
  OpBuilder behind(forward->getContext());
  behind.setInsertionPointAfter(forward);
  Tensor ordered(behind, forward->getLoc(), x);
  if (isLeast)
    ordered = -ordered;
  Value numbers = behind.create<ArgWindowOp>(forward->getLoc(), ordered, g.window, g.strides,
                                             g.dilations, g.low, g.high);
  return dy.wrap(dy.getBuilder().create<WindowScatterOp>(
      dy.getLoc(), numbers, dy, g.extents, g.window, g.strides, g.dilations, g.low, g.high));
}

Tensor prim::windowElements(Tensor numbers, const WindowGeometry &g) {
  OpBuilder &builder = numbers.getBuilder();
  numbers = numbers.convert(builder.getI64Type());
  bool mayBeEmpty = g.hasEmptyWindow();
  Tensor rest = mayBeEmpty ? max(numbers, 0.0) : numbers;
  Tensor element = rest.full(0.0);
  int64_t stride = 1;
  for (int64_t d = numbers.rank() - 1; d >= 0; --d) {
    auto window = static_cast<double>(g.window[d]);
    Tensor position = iota(builder, numbers.getLoc(), tensorType(numbers), d);
    Tensor at = position * static_cast<double>(g.strides[d]) - static_cast<double>(g.low[d]);
    if (g.window[d] > 1) {
      at = at + rem(rest, rest.full(window)) * static_cast<double>(g.dilations[d]);
      rest = rest / window;
    }
    element = element + at * static_cast<double>(stride);
    stride *= g.extents[d];
  }
  return mayBeEmpty ? select(numbers < 0.0, -1.0, element) : element;
}

LogicalResult ArgWindowOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  WindowGeometry geometry = WindowGeometry::of(adaptor, adaptor.getOperand());
  if (failed(geometry.check<ArgWindowOp>(loc)))
    return failure();
  types.push_back(
      RankedTensorType::get(geometry.positions(), windowNumberType(context, geometry.window)));
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
    int64_t best = -1, number = -1;
    forEachInWindow(geometry, strides, position, [&](int64_t at) {
      if (best >= 0 && !kGreatestFirst.precedes(x.values[at], x.values[best]))
        return;
      best = at;
      number = numberInWindow(geometry, strides, position, at);
    });
    y.values[next++] = static_cast<double>(number);
  });
  results.push_back(std::move(y));
  return success();
}

ArrayRef<StringRef> ArgWindowOp::getAttributesOfAllDimensions() {
  return ArrayRef(kWindowAttributes).drop_back();
}

// From the last element to the first, an element inside replaces the greatest so far unless that is
// greater: the first of equal elements is left.
Value ArgWindowOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  WindowGeometry geometry = WindowGeometry::of(*this, getOperand());
  Type element = signless(tensorType(getOperand()).getElementType());
  bool isUnsigned = isUnsignedElement(tensorType(getOperand()).getElementType());
  Type numbers = tensorType(getResult()).getElementType();
  TypedAttr lowest = kGreatestFirst.last(element, isUnsigned);
  SmallVector<SmallVector<AffineExpr>> elements;
  ReferenceArray::forEachIndex(getWindow(), [&](ArrayRef<int64_t> offset) {
    elements.push_back(geometry.elementAt(index, offset));
  });
  Value best, number;
  for (size_t i = elements.size(); i-- > 0;) {
    SmallVector<IndexRange> inside;
    for (auto [at, extent] : llvm::zip_equal(elements[i], geometry.extents))
      inside.push_back({at, 0, extent});
    auto numberOf = [&](int64_t n) { return emitter.constant(IntegerAttr::get(numbers, n)); };
    Value x = emitter.elementOr(getOperand(), elements[i], lowest);
    Value here = emitter.select(
        inside, [&] { return numberOf(static_cast<int64_t>(i)); }, [&] { return numberOf(-1); });
    if (i + 1 == elements.size()) {
      best = x;
      number = here;
      continue;
    }
    Value stays = emitter.apply({best, x, here}, [&](OpBuilder &b, ValueRange v) -> Value {
      Value greater = kGreatestFirst.emitPrecedes(b, getLoc(), isUnsigned, v[0], v[1]);
      Value zero = b.create<arith::ConstantOp>(getLoc(), b.getZeroAttr(v[2].getType()));
      Value outside = b.create<arith::CmpIOp>(getLoc(), arith::CmpIPredicate::slt, v[2], zero);
      return b.create<arith::OrIOp>(getLoc(), greater, outside);
    });
    auto choose = [&](Value soFar, Value other) {
      return emitter.apply({stays, soFar, other}, [&](OpBuilder &b, ValueRange v) -> Value {
        return b.create<arith::SelectOp>(getLoc(), v[0], v[1], v[2]);
      });
    };
    best = choose(best, x);
    number = choose(number, here);
  }
  return number;
}

// ---- window_scatter ----

LogicalResult WindowScatterOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  WindowGeometry geometry = WindowGeometry::of(adaptor);
  if (failed(geometry.check<WindowScatterOp>(loc)) ||
      failed(checkLeast<WindowScatterOp>(loc, "extents", adaptor.getExtents(), 0)))
    return failure();
  SmallVector<int64_t> positions = geometry.positions();
  RankedTensorType source = tensorType(adaptor.getSource());
  auto numbers = RankedTensorType::get(positions, windowNumberType(context, geometry.window));
  if (source.getShape() != ArrayRef<int64_t>(positions))
    return inferError<WindowScatterOp>(loc, "'source' is ", source, ", but the windows ask for ",
                                       source.clone(positions));
  if (adaptor.getNumbers().getType() != numbers)
    return inferError<WindowScatterOp>(loc, "'numbers' is ", adaptor.getNumbers().getType(),
                                       ", but the windows ask for ", numbers);
  types.push_back(source.clone(geometry.extents));
  return success();
}

// Linear in the source: dsource[o] = dy at the element of window o that the number names, and 0
// where it names none.
LogicalResult WindowScatterOp::differentiate(Gradients &gradients) {
  if (!gradients.wants(getSource()))
    return success();
  OpBuilder &builder = gradients.builder();
  Tensor dy(builder, getLoc(), gradients.of(getResult()));
  if (dy.size() == 0) {
    gradients.add(getSource(), dy.full(tensorType(getSource()), 0.0));
    return success();
  }
  WindowGeometry geometry = WindowGeometry::of(*this);
  Tensor at = windowElements(dy.wrap(getNumbers()), geometry);
  auto taken = [&](Tensor from) { return dy.reshape({dy.size()}).gather(from, 0); };
  gradients.add(getSource(),
                geometry.hasEmptyWindow() ? select(at < 0.0, 0.0, taken(max(at, 0.0))) : taken(at));
  return success();
}

LogicalResult WindowScatterOp::evaluate(ArrayRef<ReferenceArray> operands,
                                        SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray &numbers = operands[0], &source = operands[1];
  WindowGeometry geometry = WindowGeometry::of(*this);
  ReferenceArray y(tensorType(getResult()).getShape());
  SmallVector<int64_t> strides = y.strides();
  int64_t next = 0;
  ReferenceArray::forEachIndex(source.shape, [&](ArrayRef<int64_t> position) {
    forEachInWindow(geometry, strides, position, [&](int64_t at) {
      if (static_cast<double>(numberInWindow(geometry, strides, position, at)) ==
          numbers.values[next])
        y.values[at] += source.values[next];
    });
    ++next;
  });
  results.push_back(std::move(y));
  return success();
}

ArrayRef<StringRef> WindowScatterOp::getAttributesOfAllDimensions() { return kWindowAttributes; }

Value WindowScatterOp::emitCombine(OpBuilder &builder, Value a, Value b) {
  return emitCombiner(builder, getLoc(), ReduceKind::sum, /*isUnsigned=*/false, a, b);
}

// Element i lies in the windows from (i + pad_low) floordiv stride back to those that begin
// `reach` before it; in each at one place at most. They add up in their order.
Value WindowScatterOp::emitElement(ElementEmitter &emitter, ArrayRef<AffineExpr> index) {
  Location loc = getLoc();
  ArrayRef<int64_t> window = getWindow(), strides = getStrides(), dilations = getDilations();
  SmallVector<int64_t> counts;
  for (size_t d = 0; d < window.size(); ++d)
    counts.push_back((window[d] - 1) * dilations[d] / strides[d] + 1);
  Type numbers = tensorType(getNumbers()).getElementType();
  auto element = cast<FloatType>(tensorType(getResult()).getElementType());
  Type accumulator = getAccumulatorType(element);
  auto none = [&](int64_t n) { return IntegerAttr::get(numbers, n); };
  Value sum = emitter.constant(FloatAttr::get(accumulator, 0.0));
  ReferenceArray::forEachIndex(counts, [&](ArrayRef<int64_t> which) {
    SmallVector<AffineExpr> position;
    SmallVector<IndexRange> inWindow;
    AffineExpr number = getAffineConstantExpr(0, getContext());
    for (size_t d = 0; d < window.size(); ++d) {
      int64_t before = counts[d] - 1 - which[d], reach = (window[d] - 1) * dilations[d];
      AffineExpr padded = index[d] + getPadLow()[d];
      AffineExpr apart = padded % strides[d] + before * strides[d];
      position.push_back(padded.floorDiv(strides[d]) - before);
      inWindow.push_back({apart, 0, reach + 1});
      if (dilations[d] > 1)
        inWindow.push_back({apart % dilations[d], 0, 1});
      number = number * window[d] + apart.floorDiv(dilations[d]);
    }
    // Outside of the tensors a number is none of those that arg_window gives, and of the window
    // too.
    Value chosen = emitter.elementOr(getNumbers(), position, none(-1));
    Value source = emitter.elementOr(getSource(), position, FloatAttr::get(element, 0.0));
    Value here = emitter.select(
        inWindow, [&] { return emitter.indexValue(number, numbers); },
        [&] { return emitter.constant(none(-2)); });
    sum = emitter.apply({chosen, here, source, sum}, [&](OpBuilder &b, ValueRange v) {
      Value isHere = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, v[0], v[1]);
      Value x = convertFloat(b, loc, v[2], accumulator);
      Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(x.getType()));
      return emitCombine(b, v[3], b.create<arith::SelectOp>(loc, isHere, x, zero));
    });
  });
  return emitter.apply(
      sum, [&](OpBuilder &b, ValueRange v) { return convertFloat(b, loc, v.front(), element); });
}
