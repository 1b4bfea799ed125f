// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Fourier.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

namespace {

/// Matrices of more elements are not made: 2 MB of f32.
constexpr int64_t kLargestMatrix = int64_t(1) << 19;
/// Longer transforms have too many constants.
constexpr int64_t kLongest = int64_t(1) << 20;

/// exp(2 pi i numerator / denominator).
std::pair<double, double> root(int64_t numerator, int64_t denominator) {
  double angle = 2 * M_PI * static_cast<double>(numerator) / static_cast<double>(denominator);
  return {std::cos(angle), std::sin(angle)};
}

/// a * b mod n, where that is below 2^32.
int64_t productModulo(int64_t a, int64_t b, int64_t n) {
  return static_cast<int64_t>(static_cast<uint64_t>(a % n) * static_cast<uint64_t>(b % n) %
                              static_cast<uint64_t>(n));
}

/// Complex numbers that a complex tensor is multiplied with, as its parts are: [re, re] and
/// [-im, im].
struct Factors {
  Tensor real, imaginary;

  static Factors constant(NodeBuilder &node, ArrayRef<std::pair<double, double>> values,
                          SmallVector<int64_t> shape, Type elementType) {
    SmallVector<double> real, imaginary;
    for (auto [re, im] : values) {
      real.append({re, re});
      imaginary.append({-im, im});
    }
    shape.push_back(2);
    return {node.reals(real, shape, elementType), node.reals(imaginary, shape, elementType)};
  }
  static Factors of(NodeBuilder &node, Tensor x) {
    int64_t last = x.rank() - 1;
    SmallVector<int64_t> leading(x.shape().drop_back()), dimensions(last);
    std::iota(dimensions.begin(), dimensions.end(), 0);
    auto part = [&](int64_t i) {
      return x.sliceDim(last, i, i + 1).reshape(leading).broadcast(x.shape(), dimensions);
    };
    Tensor signs = node.reals({-1.0, 1.0}, {2}, x.elementType());
    return {part(0), part(1) * signs.broadcast(x.shape(), {last})};
  }
};

// (a + bi)(c + di) = [a, b] c + [b, a] [-d, d]
Tensor multiply(Tensor x, const Factors &w) {
  return x * w.real.broadcastTo(x.shape()) +
         x.reverse({x.rank() - 1}) * w.imaginary.broadcastTo(x.shape());
}

/// Adds zeros behind the elements of a dimension, or takes elements away.
Tensor fit(Tensor x, int64_t dimension, int64_t extent) {
  if (x.dim(dimension) >= extent)
    return x.dim(dimension) == extent ? x : x.sliceDim(dimension, 0, extent);
  SmallVector<int64_t> low(x.rank(), 0), high(x.rank(), 0);
  high[dimension] = extent - x.dim(dimension);
  return x.pad(0.0, low, high);
}

/// Transforms of [rows, elements, parts] along the elements: sums of x_j exp(sign 2 pi i j k / n),
/// which nothing divides.
class Transform {
public:
  Transform(NodeBuilder &node, int sign) : node(node), sign(sign) {}

  /// The first `outputs` elements.
  Tensor operator()(Tensor x, int64_t outputs) {
    int64_t n = x.dim(1);
    if (isDirect(n * x.dim(2), outputs * 2))
      return product(x, outputs, /*parts=*/2,
                     [&](int64_t j, int64_t k) { return root(productModulo(j, k, n), n); });
    for (int64_t a = static_cast<int64_t>(std::sqrt(static_cast<double>(n))); a > 1; --a)
      if (n % a == 0)
        return fit(divided(fit(x, 2, 2), a), 1, outputs);
    return fit(byConvolution(fit(x, 2, 2)), 1, outputs);
  }
  Tensor operator()(Tensor x) { return (*this)(x, x.dim(1)); }

  /// The real signal of n elements of which x is the first half of the transform, without division.
  Tensor realOf(Tensor x, int64_t n) {
    // The other half is the complex conjugate, which doubles the real parts.
    if (isDirect(x.dim(1) * x.dim(2), n))
      return product(x, n, /*parts=*/1, [&](int64_t k, int64_t j) {
        double factor = k == 0 || 2 * k == n ? 1 : 2;
        auto [cosine, sine] = root(productModulo(j, k, n), n);
        return std::pair(factor * cosine, factor * sine);
      });
    x = fit(x, 2, 2);
    Tensor signs = node.reals({1.0, -1.0}, {2}, x.elementType());
    Tensor mirrored = x.sliceDim(1, 1, n - x.dim(1) + 1).reverse({1});
    mirrored = mirrored * signs.broadcast(mirrored.shape(), {2});
    return fit((*this)(prim::concatenate({x, mirrored}, 1)), 2, 1);
  }

private:
  static bool isDirect(int64_t rows, int64_t columns) {
    return rows <= 64 || columns <= kLargestMatrix / rows;
  }

  /// One matrix product. `factor` is the complex number with which element j counts in result k
  /// where the sign is +.
  Tensor product(Tensor x, int64_t outputs, int64_t parts,
                 llvm::function_ref<std::pair<double, double>(int64_t, int64_t)> factor) {
    int64_t n = x.dim(1), columns = outputs * parts;
    SmallVector<double> matrix;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t part = 0; part < x.dim(2); ++part)
        for (int64_t k = 0; k < outputs; ++k) {
          auto [cosine, sine] = factor(j, k);
          matrix.push_back(part == 0 ? cosine : -sign * sine);
          if (parts == 2)
            matrix.push_back(part == 0 ? sign * sine : cosine);
        }
    int64_t rows = n * x.dim(2);
    Tensor right = node.reals(matrix, {rows, columns}, x.elementType());
    Tensor left = x.reshape({x.dim(0), rows});
    return prim::dotGeneral(left, right, {}, {}, {1}, {0}).reshape({x.dim(0), outputs, parts});
  }

  /// n = a b: transforms of a, and of these transforms of b (J. W. Cooley, J. W. Tukey, 1965).
  /// Element j = j1 b + j2 counts in result k = k1 + a k2 with the product of the roots
  /// w_a^(j1 k1) w_n^(j2 k1) w_b^(j2 k2).
  Tensor divided(Tensor x, int64_t a) {
    int64_t n = x.dim(1), b = n / a, rows = x.dim(0);
    Tensor columns = x.reshape({rows, a, b, 2}).transpose({0, 2, 1, 3});
    Tensor y = (*this)(columns.reshape({rows * b, a, 2})).reshape({rows, b, a, 2});
    SmallVector<std::pair<double, double>> twiddles;
    for (int64_t j2 = 0; j2 < b; ++j2)
      for (int64_t k1 = 0; k1 < a; ++k1)
        twiddles.push_back(root(sign * j2 * k1, n));
    y = multiply(y, Factors::constant(node, twiddles, {b, a}, x.elementType()));
    y = (*this)(y.transpose({0, 2, 1, 3}).reshape({rows * a, b, 2}));
    return y.reshape({rows, a, b, 2}).transpose({0, 2, 1, 3}).reshape({rows, n, 2});
  }

  /// A convolution, for lengths without divisors, by transforms of a power of two (L. I. Bluestein,
  /// 1970): j k = (j^2 + k^2 - (k - j)^2) / 2.
  Tensor byConvolution(Tensor x) {
    int64_t n = x.dim(1), padded = 1;
    while (padded < 2 * n - 1)
      padded *= 2;
    SmallVector<std::pair<double, double>> chirp;
    SmallVector<double> kernel(2 * static_cast<size_t>(padded), 0);
    for (int64_t j = 0; j < n; ++j) {
      chirp.push_back(root(sign * productModulo(j, j, 2 * n), 2 * n));
      for (int64_t at : {j, (padded - j) % padded}) {
        kernel[2 * at] = chirp.back().first;
        kernel[2 * at + 1] = -chirp.back().second;
      }
    }
    Factors w = Factors::constant(node, chirp, {n}, x.elementType());
    Transform forward(node, -1), backward(node, 1);
    Tensor filter = forward(node.reals(kernel, {1, padded, 2}, x.elementType()));
    Tensor y = forward(fit(multiply(x, w), 1, padded));
    y = backward(multiply(y, Factors::of(node, filter.reshape({padded, 2}))));
    return multiply(fit(y, 1, n) / static_cast<double>(padded), w);
  }

  NodeBuilder &node;
  int sign;
};

} // namespace

Tensor accc::frontend::fourier(NodeBuilder &node, Tensor x, int64_t axis,
                               const FourierOptions &options) {
  int64_t n = options.length, half = n / 2 + 1;
  if (n < 1 || n > kLongest)
    fail("a Fourier transform of " + Twine(n) + " elements is not supported: at most " +
         Twine(kLongest) + " are");
  // The axis before the parts; the others are rows.
  SmallVector<int64_t> order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[axis], order[x.rank() - 2]);
  Tensor moved = x.transpose(order);
  SmallVector<int64_t> shape(moved.shape());
  bool fromHalf = options.isInverse && options.isOneSided;
  moved = fit(moved, x.rank() - 2, fromHalf ? half : n);
  int64_t rows = 1;
  for (int64_t extent : moved.shape().drop_back(2))
    rows *= extent;
  moved = moved.reshape({rows, moved.dim(-2), moved.dim(-1)});

  Transform transform(node, options.isInverse ? 1 : -1);
  Tensor y =
      fromHalf ? transform.realOf(moved, n) : transform(moved, options.isOneSided ? half : n);
  if (options.isInverse)
    y = y / static_cast<double>(n);
  shape[x.rank() - 2] = y.dim(1);
  shape[x.rank() - 1] = y.dim(2);
  tensorType(shape, x.elementType());
  return y.reshape(shape).transpose(order);
}

Tensor accc::frontend::framesOf(NodeBuilder &node, Tensor x, int64_t length, int64_t step) {
  int64_t batch = x.dim(0), elements = x.dim(1), parts = x.dim(2);
  if (length > elements)
    fail("a frame of " + Twine(length) + " elements does not fit a signal of " + Twine(elements));
  int64_t count = (elements - length) / step + 1, blocks = (length + step - 1) / step;
  tensorType({batch, count, length, parts}, node.builder().getI64Type());
  constexpr int64_t kMostBlocks = 16;
  if (blocks > kMostBlocks) {
    SmallVector<int64_t> shape = {count, length};
    return x.gather(node.iota(shape, 0) * static_cast<double>(step) + node.iota(shape, 1), 1);
  }
  // A frame is some blocks of `step` elements, one after the other.
  int64_t all = count + blocks - 1;
  Tensor split = fit(x, 1, all * step).reshape({batch, all, step, parts});
  SmallVector<Tensor> pieces;
  for (int64_t i = 0; i < blocks; ++i)
    pieces.push_back(split.sliceDim(1, i, i + count));
  return fit(node.concatenate(pieces, 2), 2, length);
}
