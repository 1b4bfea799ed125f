// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fourier transforms, and what spectra are multiplied with.
#include "frontend/common/Fourier.h"
#include "frontend/common/Frames.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Tensors.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

/// A tensor whose last dimension holds the real part, or that and the imaginary part.
Complex complexOf(Tensor x) {
  if (x.rank() < 2 || x.dim(-1) < 1 || x.dim(-1) > 2)
    fail(
        "the last dimension of the signal must hold a real or a complex number, but the shape is " +
        show(x.shape()));
  return x.dim(-1) == 2 ? Complex::ofPairs(x) : Complex(x.reshape(x.shape().drop_back()));
}
/// The same of a result.
Tensor asTensor(const Complex &x) {
  if (x.imaginary)
    return x.pairs();
  SmallVector<int64_t> shape(x.real.shape());
  shape.push_back(1);
  return x.real.reshape(shape);
}

int64_t positive(Node &node, size_t input, StringRef what) {
  int64_t value = node.knownInteger(input, what);
  if (value < 1 || value > int64_t(1) << 32)
    fail("the " + what + " is " + Twine(value) + ": it must lie between 1 and 2^32");
  return value;
}

Entities discreteFourier(Node &node) {
  Tensor x = node.floatIn(0);
  Complex signal = complexOf(x);
  // Operator set 17 has the axis as an attribute.
  int64_t axis = node.opset() < 20 ? node.integer("axis", 1)
                                   : (node.has(2) ? node.knownInteger(2, "axis") : -2);
  axis = node.axis(axis, x.rank());
  if (axis == x.rank() - 1)
    fail("the axis " + Twine(axis) + " is that of the real and imaginary parts");
  FourierOptions options;
  options.isInverse = node.integer("inverse", 0) != 0;
  options.isOneSided = node.integer("onesided", 0) != 0;
  bool fromHalf = options.isInverse && options.isOneSided;
  if (node.has(1))
    options.length = positive(node, 1, "dft_length");
  else
    options.length = fromHalf ? 2 * (x.dim(axis) - 1) : x.dim(axis);
  if (options.isInverse)
    options.scale = 1 / static_cast<double>(options.length);
  return {asTensor(fourier(node, signal, axis, options))};
}

/// The transforms of frames of a signal, each multiplied with a window.
Entities shortTimeFourier(Node &node) {
  Tensor x = node.floatIn(0);
  Complex signal = complexOf(x);
  if (x.rank() != 3)
    fail("the signal has the shape " + show(x.shape()) +
         " where [batch, length, 1 or 2] is needed");
  int64_t step = positive(node, 1, "frame_step"), length = x.dim(1);
  if (node.has(3))
    length = positive(node, 3, "frame_length");
  else if (node.has(2) && node.in(2).rank() == 1)
    length = node.in(2).dim(0);
  Complex frames = signal.map([&](Tensor part) { return framesOf(node, part, length, step); });
  if (node.has(2)) {
    Tensor window = node.floatIn(2).convert(x.elementType());
    if (window.shape() != ArrayRef(length))
      fail("the window has the shape " + show(window.shape()) + " for frames of " + Twine(length) +
           " elements");
    frames = frames * Complex(window.broadcast(frames.real.shape(), {2}));
  }
  FourierOptions options;
  options.isOneSided = node.integer("onesided", 1) != 0;
  options.length = length;
  return {asTensor(fourier(node, frames, 2, options))};
}

/// Sums up the bins of a spectrum, [bins, mel bins]: each mel bin takes those of a triangle, whose
/// corners are evenly spaced on the mel scale.
Entities melWeightMatrix(Node &node) {
  int64_t count = positive(node, 0, "num_mel_bins"), length = positive(node, 1, "dft_length"),
          rate = positive(node, 2, "sample_rate"), bins = length / 2 + 1;
  constexpr int64_t kMost = int64_t(1) << 26;
  if (bins > kMost / count)
    fail("a matrix of " + Twine(bins) + " by " + Twine(count) + " elements is not supported");
  auto melOf = [](double frequency) { return 2595 * std::log10(1 + frequency / 700); };
  double low = melOf(node.knownReal(3, "lower_edge_hertz"));
  double high = melOf(node.knownReal(4, "upper_edge_hertz"));
  SmallVector<int64_t> corners;
  for (int64_t i = 0; i < count + 2; ++i) {
    double mel = low + (high - low) / static_cast<double>(count + 2) * static_cast<double>(i);
    double frequency = 700 * (std::pow(10, mel / 2595) - 1);
    double bin =
        std::floor(static_cast<double>(length + 1) * frequency / static_cast<double>(rate));
    if (!(bin >= 0 && bin < static_cast<double>(bins)) || !(low <= high))
      fail("the edges are no frequencies, in order, from 0 to half of the sample rate");
    corners.push_back(static_cast<int64_t>(bin));
  }
  SmallVector<double> weights(bins * count, 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = corners[i], peak = corners[i + 1], to = corners[i + 2];
    for (int64_t bin = from; bin < peak; ++bin)
      weights[bin * count + i] = static_cast<double>(bin - from) / static_cast<double>(peak - from);
    weights[peak * count + i] = 1;
    for (int64_t bin = peak + 1; bin < to; ++bin)
      weights[bin * count + i] = static_cast<double>(to - bin) / static_cast<double>(to - peak);
  }
  Tensor matrix = node.reals(weights, {bins, count}, node.builder().getF64Type());
  int64_t type = node.integer("output_datatype", onnx::TensorProto::FLOAT);
  return {matrix.convert(elementType(node.context(), static_cast<int32_t>(type)))};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::spectralOps() {
  static const OpRow rows[] = {
      {"DFT", discreteFourier},
      {"STFT", shortTimeFourier},
      {"MelWeightMatrix", melWeightMatrix},
  };
  return rows;
}
