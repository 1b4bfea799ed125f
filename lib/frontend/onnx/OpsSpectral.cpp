// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fourier transforms.
#include "frontend/common/Fourier.h"
#include "frontend/onnx/OpTable.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

/// The last dimension holds the real part, or that and the imaginary part.
void checkComplex(Tensor x) {
  if (x.rank() < 2 || x.dim(-1) < 1 || x.dim(-1) > 2)
    fail(
        "the last dimension of the signal must hold a real or a complex number, but the shape is " +
        show(x.shape()));
}

int64_t positive(Node &node, size_t input, StringRef what) {
  int64_t value = node.knownInteger(input, what);
  if (value < 1 || value > int64_t(1) << 32)
    fail("the " + what + " is " + Twine(value));
  return value;
}

Entities discreteFourier(Node &node) {
  Tensor x = node.floatIn(0);
  checkComplex(x);
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
  return {fourier(node, x, axis, options)};
}

/// The transforms of frames of a signal, each multiplied with a window.
Entities shortTimeFourier(Node &node) {
  Tensor x = node.floatIn(0);
  checkComplex(x);
  if (x.rank() != 3)
    fail("the signal has the shape " + show(x.shape()) +
         " where [batch, length, 1 or 2] is needed");
  int64_t step = positive(node, 1, "frame_step"), length = x.dim(1);
  if (node.has(3))
    length = positive(node, 3, "frame_length");
  else if (node.has(2) && node.in(2).rank() == 1)
    length = node.in(2).dim(0);
  Tensor frames = framesOf(node, x, length, step);
  if (node.has(2)) {
    Tensor window = node.floatIn(2).convert(x.elementType());
    if (window.shape() != ArrayRef(length))
      fail("the window has the shape " + show(window.shape()) + " for frames of " + Twine(length) +
           " elements");
    frames = frames * window.broadcast(frames.shape(), {2});
  }
  FourierOptions options;
  options.isOneSided = node.integer("onesided", 1) != 0;
  options.length = length;
  return {fourier(node, frames, 2, options)};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::spectralOps() {
  static const OpRow rows[] = {
      {"DFT", discreteFourier},
      {"STFT", shortTimeFourier},
  };
  return rows;
}
