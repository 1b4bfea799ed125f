// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Rules.h"
#include "ir/prim/Geometry.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/Pooling.cpp.inc"

namespace {
int64_t reachOf(int64_t window, int64_t dilation) { return (window - 1) * dilation + 1; }

template <typename Op>
LogicalResult inferPooling(std::optional<Location> location, typename Op::Adaptor op,
                           SmallVectorImpl<Type> &types) {
  auto x = typeOf(op.getX());
  // pool_c1
  if (x.getRank() < 3 || x.getRank() > 5)
    return prim::inferError<Op>(location, "x of type ", x,
                                " does not have 1 to 3 spatial dimensions");
  size_t spatial = x.getRank() - 2;
  for (ArrayRef<int64_t> entries :
       {op.getWindow(), op.getStrides(), op.getDilations(), op.getPadLow(), op.getPadHigh()})
    if (entries.size() != spatial)
      return prim::inferError<Op>(location, "an attribute has ", entries.size(), " entries for ",
                                  spatial, " spatial dimensions");
  SmallVector<int64_t> shape(x.getShape().take_front(2));
  for (size_t i = 0; i < spatial; ++i) {
    int64_t window = op.getWindow()[i], stride = op.getStrides()[i],
            dilation = op.getDilations()[i];
    int64_t low = op.getPadLow()[i], high = op.getPadHigh()[i], extent = x.getDimSize(i + 2);
    if (window < 1 || stride < 1 || dilation < 1 || low < 0 || high < 0)
      return prim::inferError<Op>(
          location, "window, strides and dilations must be at least 1, pads at least 0");
    // pool_c2
    int64_t reach = reachOf(window, dilation);
    int64_t positions =
        prim::poolingPositions(extent, low, high, window, dilation, stride, op.getCeilMode());
    if (positions < 1 || low >= reach || high >= reach)
      return prim::inferError<Op>(location, "a window that reaches over ", reach,
                                  " elements does not fit extent ", extent, " padded by ", low,
                                  " and ", high);
    shape.push_back(positions);
  }
  types.push_back(x.clone(shape));
  return success();
}

/// The attributes of prim's window ops, which speak of all dimensions. What ceil_mode adds is high
/// padding: just enough for the last window.
struct Windows {
  SmallVector<int64_t> window{1, 1}, strides{1, 1}, dilations{1, 1}, low{0, 0}, high{0, 0};
};
template <typename Op> Windows windowsOf(Op op) {
  Windows w;
  ArrayRef<int64_t> in = shapeOf(op.getX()), out = shapeOf(op.getResult());
  w.window.append(op.getWindow().begin(), op.getWindow().end());
  w.strides.append(op.getStrides().begin(), op.getStrides().end());
  w.dilations.append(op.getDilations().begin(), op.getDilations().end());
  w.low.append(op.getPadLow().begin(), op.getPadLow().end());
  w.high.append(op.getPadHigh().begin(), op.getPadHigh().end());
  if (op.getCeilMode())
    for (size_t d = 2; d < in.size(); ++d)
      w.high[d] = std::max<int64_t>(0, (out[d] - 1) * w.strides[d] +
                                           reachOf(w.window[d], w.dilations[d]) - in[d] - w.low[d]);
  return w;
}
} // namespace

// ---- max_pool ----

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferPooling<MaxPoolOp>(location, adaptor, types);
}

LogicalResult MaxPoolOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Windows w = windowsOf(*this);
  results.push_back(builder.create<prim::ReduceWindowOp>(
      getLoc(), getX(), prim::ReduceKind::max, w.window, w.strides, w.dilations, w.low, w.high));
  return success();
}

// dx[first greatest of window o] += dy[o].
LogicalResult MaxPoolOp::differentiate(Gradients &gradients) {
  Windows w = windowsOf(*this);
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getResult()));
  gradients.add(getX(),
                prim::greatestGradient(
                    *this, getX(), /*isLeast=*/false,
                    {shapeOf(getX()), w.window, w.strides, w.dilations, w.low, w.high}, dy));
  return success();
}

// ---- average_pool ----

LogicalResult AveragePoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferPooling<AveragePoolOp>(location, adaptor, types);
}

namespace {
/// How many positions of window o count, along one spatial dimension: those in x, or in the padded
/// x. At least 1, so that a window that sees nothing gives 0.
int64_t countedPositions(AveragePoolOp op, size_t i, int64_t o) {
  int64_t extent = shapeOf(op.getX())[i + 2];
  int64_t first = op.getCountIncludePad() ? -op.getPadLow()[i] : 0;
  int64_t end = op.getCountIncludePad() ? extent + op.getPadHigh()[i] : extent;
  int64_t origin = o * op.getStrides()[i] - op.getPadLow()[i], dilation = op.getDilations()[i];
  int64_t from = std::max<int64_t>(0, llvm::divideCeilSigned(first - origin, dilation));
  int64_t to = std::min(op.getWindow()[i], llvm::divideCeilSigned(end - origin, dilation));
  return std::max<int64_t>(to - from, 1);
}
} // namespace

// The counts depend on nothing but the geometry: a constant, a number where they are all equal.
LogicalResult AveragePoolOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Windows w = windowsOf(*this);
  Tensor x = widen(Tensor(builder, getLoc(), getX()));
  Tensor total = x.wrap(builder.create<prim::ReduceWindowOp>(
      getLoc(), x, prim::ReduceKind::sum, w.window, w.strides, w.dilations, w.low, w.high));
  ArrayRef<int64_t> spatial = total.shape().drop_front(2);
  SmallVector<double> factors;
  ReferenceArray::forEachIndex(spatial, [&](ArrayRef<int64_t> index) {
    double count = 1.0;
    for (auto [i, o] : llvm::enumerate(index))
      count *= static_cast<double>(countedPositions(*this, i, o));
    factors.push_back(1.0 / count);
  });
  Tensor y = total;
  if (llvm::all_equal(factors)) {
    y = factors.empty() ? total : total * factors.front();
  } else {
    Tensor factor = constantLike(x, spatial, factors);
    y = total * factor.broadcast(total.shape(), dimensionRange(2, total.rank()));
  }
  results.push_back(y.convert(getType().getElementType()));
  return success();
}
