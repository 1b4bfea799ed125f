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
  // resize_c2
  auto region = getRegion();
  bool isCrop = getCoordinates() == ResizeCoordinates::tf_crop_and_resize;
  if (region.has_value() != isCrop ||
      (region && static_cast<int64_t>(region->size()) != 2 * x.getRank()))
    return emitOpError("tf_crop_and_resize, and nothing else, needs a region of ")
           << 2 * x.getRank() << " entries";
  for (auto [d, scale] : llvm::enumerate(getScales()))
    if (!(scale > 0.0) || (x.getDimSize(d) == 0) != (y.getDimSize(d) == 0))
      return emitOpError("dimension ") << d << " of x cannot be scaled by " << scale;
  return success();
}

namespace {
/// One dimension of a resize.
struct Axis {
  Axis(ResizeOp op, int64_t dimension)
      : coordinates(op.getCoordinates()), scale(op.getScales()[dimension]),
        in(static_cast<double>(typeOf(op.getX()).getDimSize(dimension))),
        out(static_cast<double>(op.getType().getDimSize(dimension))) {
    if (auto region = op.getRegion()) {
      start = (*region)[dimension];
      end = (*region)[region->size() / 2 + dimension];
    }
  }

  bool isUnchanged() const { return in == out && scale == 1.0 && start == 0.0 && end == 1.0; }
  bool holds(double position) const { return position >= 0.0 && position <= in - 1.0; }

  /// The position in x of a result index (ONNX Resize, coordinate_transformation_mode).
  double position(int64_t i) const {
    double index = static_cast<double>(i);
    switch (coordinates) {
    case ResizeCoordinates::half_pixel:
      return (index + 0.5) / scale - 0.5;
    case ResizeCoordinates::pytorch_half_pixel:
      return out > 1 ? (index + 0.5) / scale - 0.5 : 0.0;
    case ResizeCoordinates::align_corners:
      return out > 1 ? index * (in - 1.0) / (out - 1.0) : 0.0;
    case ResizeCoordinates::asymmetric:
      return index / scale;
    case ResizeCoordinates::half_pixel_symmetric: {
      // The grid is centred even where scale * in is not the whole number out.
      double adjustment = out / (scale * in);
      return in / 2.0 * (1.0 - adjustment) + (index + 0.5) / scale - 0.5;
    }
    case ResizeCoordinates::tf_half_pixel_for_nn:
      return (index + 0.5) / scale;
    case ResizeCoordinates::tf_crop_and_resize:
      return out > 1 ? (start + index * (end - start) / (out - 1.0)) * (in - 1.0)
                     : 0.5 * (start + end) * (in - 1.0);
    }
    llvm_unreachable("covered switch");
  }

  ResizeCoordinates coordinates;
  double scale, in, out, start = 0.0, end = 1.0;
};

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

/// The weight of an element at a distance: a triangle, or Keys' cubic kernel with coefficient a.
double kernel(ResizeMode mode, double distance, double a) {
  double d = std::abs(distance);
  if (mode == ResizeMode::linear)
    return std::max(0.0, 1.0 - d);
  if (d >= 2.0)
    return 0.0;
  return d < 1.0 ? ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
                 : ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a;
}

/// Elements on each side of a position that a kernel reaches, of which `shrink` < 1 widens it.
int64_t reachOf(ResizeMode mode, double shrink) {
  return static_cast<int64_t>(std::ceil((mode == ResizeMode::linear ? 1.0 : 2.0) / shrink));
}

SmallVector<Tap> tapsOf(ResizeOp op, const Axis &axis) {
  ResizeMode mode = op.getMode();
  bool isNearest = mode == ResizeMode::nearest;
  double shrink = op.getAntialias() ? std::min(axis.scale, 1.0) : 1.0;
  int64_t reach = isNearest ? 0 : reachOf(mode, shrink);
  SmallVector<Tap> taps(isNearest ? 1 : 2 * reach);
  for (int64_t i = 0; i < static_cast<int64_t>(axis.out); ++i) {
    double position = axis.position(i), floor = std::floor(position);
    double first = isNearest ? nearestIndex(op.getNearest(), position)
                             : floor - static_cast<double>(reach - 1);
    double sum = 0;
    for (auto [j, tap] : llvm::enumerate(taps)) {
      double index = first + static_cast<double>(j);
      double inside = std::clamp(index, 0.0, axis.in - 1.0);
      double weight = isNearest ? 1.0
                      : index != inside && op.getExcludeOutside()
                          ? 0.0
                          : kernel(mode, (index - position) * shrink, op.getCubicCoefficient());
      tap.index.push_back(static_cast<int64_t>(inside));
      tap.weight.push_back(weight);
      sum += weight;
    }
    if ((op.getAntialias() || op.getExcludeOutside()) && sum != 0)
      for (Tap &tap : taps)
        tap.weight.back() /= sum;
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

/// More taps than this, of a wide kernel, are a matrix product.
constexpr size_t kMostTaken = 4;

Tensor sumOfTaken(Tensor x, ArrayRef<Tap> taps, int64_t dimension) {
  std::optional<Tensor> total;
  for (const Tap &tap : taps) {
    Tensor term = take(x, tap.index, dimension);
    if (!llvm::all_of(tap.weight, [](double w) { return w == 1.0; })) {
      int64_t out = static_cast<int64_t>(tap.weight.size());
      term = term * constantLike(x, {out}, tap.weight).broadcast(term.shape(), {dimension});
    }
    total = total ? *total + term : term;
  }
  return *total;
}

/// The same as a product with a matrix of the weights.
Tensor product(Tensor x, ArrayRef<Tap> taps, int64_t dimension) {
  int64_t in = x.dim(dimension), out = static_cast<int64_t>(taps.front().weight.size());
  SmallVector<double> matrix(in * out, 0.0);
  for (const Tap &tap : taps)
    for (int64_t i = 0; i < out; ++i)
      matrix[tap.index[i] * out + i] += tap.weight[i];
  Tensor y = prim::dotGeneral(x, constantLike(x, {in, out}, matrix), {}, {}, {dimension}, {0},
                              /*fullPrecision=*/true);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, x.rank() - 1));
  order.insert(order.begin() + dimension, x.rank() - 1);
  return y.transpose(order);
}

/// y, but the extrapolation where its positions along a dimension lie outside x.
Tensor extrapolated(ResizeOp op, Tensor y, const Axis &axis, int64_t dimension) {
  SmallVector<double> isOutside;
  for (int64_t i = 0; i < y.dim(dimension); ++i)
    isOutside.push_back(!axis.holds(axis.position(i)));
  if (!llvm::is_contained(isOutside, 1.0))
    return y;
  Tensor mask = constantLike(y, {y.dim(dimension)}, isOutside);
  return prim::select((mask > 0.0).broadcast(y.shape(), {dimension}), y.full(op.getExtrapolation()),
                      y);
}
} // namespace

// Separable: along each dimension that changes, y = sum over taps of weight[i] x[index[i]].
LogicalResult ResizeOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor y = widen(Tensor(builder, getLoc(), getX()));
  for (int64_t d = 0; d < y.rank(); ++d) {
    Axis axis(*this, d);
    int64_t out = getType().getDimSize(d);
    if (out == 0 || axis.isUnchanged())
      continue;
    SmallVector<Tap> taps = tapsOf(*this, axis);
    y = taps.size() <= kMostTaken ? sumOfTaken(y, taps, d) : product(y, taps, d);
    if (getRegion())
      y = extrapolated(*this, y, axis, d);
  }
  results.push_back(y.convert(getType().getElementType()));
  return success();
}
