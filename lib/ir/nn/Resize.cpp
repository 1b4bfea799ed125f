// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Rules.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/Resize.cpp.inc"

// ---- resize ----

LogicalResult ResizeOp::verify() {
  auto x = typeOf(getX()), y = typeOf(getResult());
  // resize_c1
  if (x.getRank() != y.getRank() || static_cast<int64_t>(getScales().size()) != x.getRank())
    return emitOpError("x, the result and scales have ranks ")
           << x.getRank() << ", " << y.getRank() << " and " << getScales().size();
  if (x.getElementType() != y.getElementType())
    return emitOpError("x and the result have different element types");
  for (auto [d, scale] : llvm::enumerate(getScales()))
    if (!(scale > 0.0) || (x.getDimSize(d) == 0) != (y.getDimSize(d) == 0))
      return emitOpError("dimension ") << d << " of x cannot be scaled by " << scale;
  return success();
}

namespace {
/// The position in x of result index i along a dimension (ONNX Resize,
/// coordinate_transformation_mode).
double sourcePosition(ResizeCoordinates coordinates, int64_t i, int64_t in, int64_t out,
                      double scale) {
  double index = static_cast<double>(i);
  double inExtent = static_cast<double>(in), outExtent = static_cast<double>(out);
  switch (coordinates) {
  case ResizeCoordinates::half_pixel:
    return (index + 0.5) / scale - 0.5;
  case ResizeCoordinates::pytorch_half_pixel:
    return out > 1 ? (index + 0.5) / scale - 0.5 : 0.0;
  case ResizeCoordinates::align_corners:
    return out > 1 ? index * (inExtent - 1.0) / (outExtent - 1.0) : 0.0;
  case ResizeCoordinates::asymmetric:
    return index / scale;
  case ResizeCoordinates::half_pixel_symmetric: {
    // The grid is centred even where scale * in is not the whole number out.
    double adjustment = outExtent / (scale * inExtent);
    return inExtent / 2.0 * (1.0 - adjustment) + (index + 0.5) / scale - 0.5;
  }
  }
  llvm_unreachable("covered switch");
}

double nearestIndex(ResizeNearest rule, double position) {
  switch (rule) {
  case ResizeNearest::round_prefer_floor:
    return std::ceil(position - 0.5);
  case ResizeNearest::round_prefer_ceil:
    return std::floor(position + 0.5);
  case ResizeNearest::floor:
    return std::floor(position);
  case ResizeNearest::ceil:
    return std::ceil(position);
  }
  llvm_unreachable("covered switch");
}

/// One element that each result index along a dimension reads, and its weight.
struct Tap {
  SmallVector<int64_t> index;
  SmallVector<double> weight;
};

/// Keys' cubic kernel at distances 1 + t, t, 1 - t and 2 - t, with coefficient a.
std::array<double, 4> cubicWeights(double t, double a) {
  auto near = [&](double d) { return ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0; };
  auto far = [&](double d) { return ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a; };
  return {far(1.0 + t), near(t), near(1.0 - t), far(2.0 - t)};
}

SmallVector<Tap> tapsOf(ResizeOp op, int64_t dimension, int64_t in, int64_t out) {
  size_t count = op.getMode() == ResizeMode::nearest  ? 1
                 : op.getMode() == ResizeMode::linear ? 2
                                                      : 4;
  SmallVector<Tap> taps(count);
  for (int64_t i = 0; i < out; ++i) {
    double position = sourcePosition(op.getCoordinates(), i, in, out, op.getScales()[dimension]);
    double first = std::floor(position), t = position - first;
    SmallVector<double> weights{1.0};
    if (op.getMode() == ResizeMode::nearest) {
      first = nearestIndex(op.getNearest(), position);
    } else if (op.getMode() == ResizeMode::linear) {
      weights = {1.0 - t, t};
    } else {
      weights.assign(4, 0.0);
      llvm::copy(cubicWeights(t, op.getCubicCoefficient()), weights.begin());
      first -= 1.0;
    }
    for (auto [j, tap] : llvm::enumerate(taps)) {
      double index = std::clamp(first + static_cast<double>(j), 0.0, static_cast<double>(in - 1));
      tap.index.push_back(static_cast<int64_t>(index));
      tap.weight.push_back(weights[j]);
    }
  }
  return taps;
}

/// True if every result index i reads i / factor, for a whole factor: plain repetition.
bool repeats(ArrayRef<int64_t> index, int64_t factor) {
  for (auto [i, source] : llvm::enumerate(index))
    if (source != static_cast<int64_t>(i) / factor)
      return false;
  return true;
}

/// Takes the elements of a tap along a dimension. Repetition is a broadcast, whose derivative is a
/// sum of neighbours; anything else is a gather at constant indices.
Tensor take(Tensor x, ArrayRef<int64_t> index, int64_t dimension) {
  int64_t in = x.dim(dimension), out = static_cast<int64_t>(index.size());
  if (out % in == 0 && repeats(index, out / in)) {
    SmallVector<int64_t> split(x.shape()), merged(x.shape());
    split.insert(split.begin() + dimension + 1, out / in);
    merged[dimension] = out;
    return x.broadcastAlong(split, {dimension + 1}).reshape(merged);
  }
  OpBuilder &builder = x.getBuilder();
  auto type = RankedTensorType::get({out}, builder.getI64Type());
  auto values = DenseElementsAttr::get(type, index);
  return x.gather(x.wrap(builder.create<prim::ConstantOp>(x.getLoc(), values)), dimension);
}
} // namespace

// Separable: along each dimension that changes, y = sum over taps of weight[i] x[index[i]].
LogicalResult ResizeOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor y = widen(Tensor(builder, getLoc(), getX()));
  for (int64_t d = 0; d < y.rank(); ++d) {
    int64_t in = y.dim(d), out = getType().getDimSize(d);
    if (out == 0 || (in == out && getScales()[d] == 1.0))
      continue;
    std::optional<Tensor> total;
    for (const Tap &tap : tapsOf(*this, d, in, out)) {
      Tensor term = take(y, tap.index, d);
      if (!llvm::all_of(tap.weight, [](double w) { return w == 1.0; }))
        term = term * constantLike(y, {out}, tap.weight).broadcast(term.shape(), {d});
      total = total ? *total + term : term;
    }
    y = *total;
  }
  results.push_back(y.convert(getType().getElementType()));
  return success();
}
