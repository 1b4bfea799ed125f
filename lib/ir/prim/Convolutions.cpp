// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The three convolutions: one trilinear form <dy, conv(x, w)> and its derivatives.
#include "ir/prim/Geometry.h"
#include "ir/prim/Tensor.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

/// The axes of x, w and y by name, with up to three spatial dimensions; absent ones have extent 1.
/// All strides are in elements of the arrays.
struct ConvolutionLoops {
  struct Spatial {
    int64_t input = 1, kernel = 1, output = 1, stride = 1, dilation = 1, low = 0;
    int64_t xStride = 0, wStride = 0, yStride = 0;
  };
  int64_t batch, groups, outPerGroup, inPerGroup;
  int64_t xBatch, xChannel, wOut, wIn, yBatch, yChannel;
  std::array<Spatial, 3> spatial; // the last is the innermost

  /// Calls row(x offset, x step, w offset, y offset, y step, count) for rows of products x * w that
  /// belong to y, which together are all of the form's summands.
  template <typename Row> void forEachRow(Row row) const;
};

/// Where the dimensions of w are; output channels come first.
struct FilterDimensions {
  FilterDimensions(ConvolutionLike op, int64_t rank)
      : in(op.getFilterChannelsLast() ? rank - 1 : 1),
        firstSpatial(op.getFilterChannelsLast() ? 1 : 2) {}
  int64_t in, firstSpatial;
};

template <typename Op>
ConvolutionLoops loopsOf(Op op, RankedTensorType x, RankedTensorType w, RankedTensorType y) {
  int64_t rank = x.getRank(), channel = op.getChannelsLast() ? rank - 1 : 1;
  FilterDimensions filter(op, rank);
  SmallVector<int64_t> xs = ReferenceArray(x.getShape()).strides();
  SmallVector<int64_t> ws = ReferenceArray(w.getShape()).strides();
  SmallVector<int64_t> ys = ReferenceArray(y.getShape()).strides();
  ConvolutionLoops loops;
  loops.batch = x.getDimSize(0);
  loops.groups = op.getGroups();
  loops.outPerGroup = w.getDimSize(0) / loops.groups;
  loops.inPerGroup = w.getDimSize(filter.in);
  loops.xBatch = xs[0];
  loops.xChannel = xs[channel];
  loops.wOut = ws[0];
  loops.wIn = ws[filter.in];
  loops.yBatch = ys[0];
  loops.yChannel = ys[channel];
  int64_t dims = rank - 2, firstSpatial = op.getChannelsLast() ? 1 : 2;
  for (int64_t i = 0; i < dims; ++i) {
    int64_t d = firstSpatial + i;
    loops.spatial[3 - dims + i] = {x.getDimSize(d),
                                   w.getDimSize(filter.firstSpatial + i),
                                   y.getDimSize(d),
                                   op.getStrides()[i],
                                   op.getDilations()[i],
                                   op.getPadLow()[i],
                                   xs[d],
                                   ws[filter.firstSpatial + i],
                                   ys[d]};
  }
  return loops;
}

template <typename Row> void ConvolutionLoops::forEachRow(Row row) const {
  // Output positions first <= o < last read inside the input for this kernel position.
  auto valid = [](const Spatial &s, int64_t kernel) {
    int64_t origin = kernel * s.dilation - s.low;
    int64_t first = origin >= 0 ? 0 : llvm::divideCeil(-origin, s.stride);
    int64_t last = s.input <= origin ? 0 : (s.input - 1 - origin) / s.stride + 1;
    return std::pair(first, std::max(first, std::min(last, s.output)));
  };
  // The contribution of one kernel position along spatial dimension `d`, then the next dimension.
  auto walk = [&](auto &self, size_t d, int64_t x, int64_t w, int64_t y) -> void {
    const Spatial &s = spatial[d];
    for (int64_t kernel = 0; kernel < s.kernel; ++kernel) {
      auto [first, last] = valid(s, kernel);
      int64_t xAt = x + (first * s.stride + kernel * s.dilation - s.low) * s.xStride;
      int64_t wAt = w + kernel * s.wStride, yAt = y + first * s.yStride;
      if (d == 2) {
        if (first < last)
          row(xAt, s.stride * s.xStride, wAt, yAt, s.yStride, last - first);
        continue;
      }
      for (int64_t o = first; o < last; ++o, xAt += s.stride * s.xStride, yAt += s.yStride)
        self(self, d + 1, xAt, wAt, yAt);
    }
  };
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t o = 0; o < outPerGroup; ++o)
        for (int64_t i = 0; i < inPerGroup; ++i) {
          int64_t out = g * outPerGroup + o, in = g * inPerGroup + i;
          walk(walk, 0, n * xBatch + in * xChannel, out * wOut + i * wIn,
               n * yBatch + out * yChannel);
        }
}

/// convolution_c1 to c3, for any of the three ops.
template <typename Op>
LogicalResult verifyConvolution(Op op, RankedTensorType x, RankedTensorType w, RankedTensorType y) {
  int64_t rank = x.getRank();
  if (rank < 3 || rank > 5 || w.getRank() != rank || y.getRank() != rank)
    return op.emitOpError("x, w and y must have one rank from 3 to 5, but have ")
           << rank << ", " << w.getRank() << " and " << y.getRank();
  for (auto [name, list, least] :
       {std::tuple("strides", op.getStrides(), 1), std::tuple("dilations", op.getDilations(), 1),
        std::tuple("pad_low", op.getPadLow(), 0), std::tuple("pad_high", op.getPadHigh(), 0)}) {
    if (static_cast<int64_t>(list.size()) != rank - 2)
      return op.emitOpError("'") << name << "' has " << list.size() << " entries for " << rank - 2
                                 << " spatial dimensions";
    if (failed(checkLeast<Op>(op.getLoc(), name, list, least)))
      return failure();
  }
  if (x.getElementType() != w.getElementType() || x.getElementType() != y.getElementType())
    return op.emitOpError("x, w and y must have one element type, but have ")
           << x.getElementType() << ", " << w.getElementType() << " and " << y.getElementType();

  int64_t channel = op.getChannelsLast() ? rank - 1 : 1, groups = op.getGroups();
  int64_t in = x.getDimSize(channel), out = w.getDimSize(0);
  if (groups < 1 || in % groups != 0 || out % groups != 0)
    return op.emitOpError("'groups' is ")
           << groups << ", which must divide " << in << " input and " << out << " output channels";
  FilterDimensions filter(op, rank);
  if (w.getDimSize(filter.in) != in / groups)
    return op.emitOpError("w has ")
           << w.getDimSize(filter.in) << " input channels a group, but x has " << in
           << " channels in " << groups << " groups";
  SmallVector<int64_t> expected(rank);
  expected[0] = x.getDimSize(0);
  expected[channel] = out;
  for (int64_t i = 0; i < rank - 2; ++i) {
    int64_t d = (op.getChannelsLast() ? 1 : 2) + i;
    int64_t kernel = w.getDimSize(filter.firstSpatial + i);
    if (kernel < 1)
      return op.emitOpError("w has no elements along spatial dimension ") << i;
    expected[d] = windowPositions(x.getDimSize(d), op.getPadLow()[i], op.getPadHigh()[i], kernel,
                                  op.getDilations()[i], op.getStrides()[i]);
  }
  if (y != x.clone(expected))
    return op.emitOpError("y is ")
           << y << ", but x, w and the geometry ask for " << x.clone(expected);
  return success();
}

/// One of the other two ops, with the same geometry.
template <typename Other, typename Op> Tensor sibling(Op op, Tensor a, Value b, Value shapeOf) {
  return a.wrap(a.getBuilder().create<Other>(
      a.getLoc(), shapeOf.getType(), a.get(), b, op.getStrides(), op.getDilations(), op.getPadLow(),
      op.getPadHigh(), op.getGroups(), op.getChannelsLast(), op.getFilterChannelsLast()));
}

} // namespace

// ---- convolution ----

LogicalResult ConvolutionOp::verify() {
  return verifyConvolution(*this, tensorType(getX()), tensorType(getW()), tensorType(getResult()));
}

LogicalResult ConvolutionOp::differentiate(Gradients &gradients) {
  Tensor dy(gradients.builder(), getLoc(), gradients.of(getResult()));
  if (gradients.wants(getX()))
    gradients.add(getX(), sibling<ConvolutionBackwardDataOp>(*this, dy, getW(), getX()));
  if (gradients.wants(getW()))
    gradients.add(getW(),
                  sibling<ConvolutionBackwardWeightsOp>(*this, dy.wrap(getX()), dy, getW()));
  return success();
}

LogicalResult ConvolutionOp::evaluate(ArrayRef<ReferenceArray> operands,
                                      SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray result(tensorType(getResult()).getShape());
  const double *x = operands[0].values.data(), *w = operands[1].values.data();
  double *y = result.values.data();
  loopsOf(*this, tensorType(getX()), tensorType(getW()), tensorType(getResult()))
      .forEachRow(
          [&](int64_t xAt, int64_t xStep, int64_t wAt, int64_t yAt, int64_t yStep, int64_t count) {
            for (int64_t i = 0; i < count; ++i)
              y[yAt + i * yStep] += x[xAt + i * xStep] * w[wAt];
          });
  results.push_back(std::move(result));
  return success();
}

// ---- convolution_backward_data ----

LogicalResult ConvolutionBackwardDataOp::verify() {
  return verifyConvolution(*this, tensorType(getResult()), tensorType(getW()), tensorType(getDy()));
}

// For the cotangent g, of x's shape: <g, dx> = <dy, conv(g, w)>.
LogicalResult ConvolutionBackwardDataOp::differentiate(Gradients &gradients) {
  Tensor g(gradients.builder(), getLoc(), gradients.of(getResult()));
  if (gradients.wants(getDy()))
    gradients.add(getDy(), sibling<ConvolutionOp>(*this, g, getW(), getDy()));
  if (gradients.wants(getW()))
    gradients.add(getW(), sibling<ConvolutionBackwardWeightsOp>(*this, g, getDy(), getW()));
  return success();
}

LogicalResult ConvolutionBackwardDataOp::evaluate(ArrayRef<ReferenceArray> operands,
                                                  SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray result(tensorType(getResult()).getShape());
  const double *y = operands[0].values.data(), *w = operands[1].values.data();
  double *x = result.values.data();
  loopsOf(*this, tensorType(getResult()), tensorType(getW()), tensorType(getDy()))
      .forEachRow(
          [&](int64_t xAt, int64_t xStep, int64_t wAt, int64_t yAt, int64_t yStep, int64_t count) {
            for (int64_t i = 0; i < count; ++i)
              x[xAt + i * xStep] += y[yAt + i * yStep] * w[wAt];
          });
  results.push_back(std::move(result));
  return success();
}

// ---- convolution_backward_weights ----

LogicalResult ConvolutionBackwardWeightsOp::verify() {
  return verifyConvolution(*this, tensorType(getX()), tensorType(getResult()), tensorType(getDy()));
}

// For the cotangent g, of w's shape: <g, dw> = <dy, conv(x, g)>.
LogicalResult ConvolutionBackwardWeightsOp::differentiate(Gradients &gradients) {
  Tensor g(gradients.builder(), getLoc(), gradients.of(getResult()));
  if (gradients.wants(getX()))
    gradients.add(getX(), sibling<ConvolutionBackwardDataOp>(*this, g.wrap(getDy()), g, getX()));
  if (gradients.wants(getDy()))
    gradients.add(getDy(), sibling<ConvolutionOp>(*this, g.wrap(getX()), g, getDy()));
  return success();
}

LogicalResult ConvolutionBackwardWeightsOp::evaluate(ArrayRef<ReferenceArray> operands,
                                                     SmallVectorImpl<ReferenceArray> &results) {
  ReferenceArray result(tensorType(getResult()).getShape());
  const double *x = operands[0].values.data(), *y = operands[1].values.data();
  double *w = result.values.data();
  loopsOf(*this, tensorType(getX()), tensorType(getResult()), tensorType(getDy()))
      .forEachRow(
          [&](int64_t xAt, int64_t xStep, int64_t wAt, int64_t yAt, int64_t yStep, int64_t count) {
            double sum = 0.0;
            for (int64_t i = 0; i < count; ++i)
              sum += x[xAt + i * xStep] * y[yAt + i * yStep];
            w[wAt] += sum;
          });
  results.push_back(std::move(result));
  return success();
}
