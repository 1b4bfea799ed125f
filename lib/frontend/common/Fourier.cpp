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
/// Frames are cut from, and summed to, blocks of the step's length where these are not more.
constexpr int64_t kMostBlocks = 16;

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

/// A constant of complex numbers.
Complex constant(NodeBuilder &node, ArrayRef<std::pair<double, double>> values,
                 ArrayRef<int64_t> shape, Type elementType) {
  return Complex(
      node.reals(llvm::map_to_vector(values, [](auto z) { return z.first; }), shape, elementType),
      node.reals(llvm::map_to_vector(values, [](auto z) { return z.second; }), shape, elementType));
}

Complex broadcastTo(const Complex &x, ArrayRef<int64_t> shape) {
  return x.map([&](Tensor part) { return part.broadcastTo(shape); });
}

/// Adds zeros behind the elements of a dimension, or takes elements away.
Tensor fit(Tensor x, int64_t dimension, int64_t extent) {
  if (x.dim(dimension) >= extent)
    return x.dim(dimension) == extent ? x : x.sliceDim(dimension, 0, extent);
  SmallVector<int64_t> low(x.rank(), 0), high(x.rank(), 0);
  high[dimension] = extent - x.dim(dimension);
  return x.pad(0.0, low, high);
}

Complex fit(const Complex &x, int64_t dimension, int64_t extent) {
  return x.map([&](Tensor part) { return fit(part, dimension, extent); });
}

/// Transforms of [rows, elements] along the elements: sums of x_j exp(sign 2 pi i j k / n), which
/// nothing divides.
class Transform {
public:
  Transform(NodeBuilder &node, int sign) : node(node), sign(sign) {}

  /// The first `outputs` elements.
  Complex operator()(const Complex &x, int64_t outputs) {
    int64_t n = x.real.dim(1);
    if (isDirect(n * partsOf(x), outputs * 2))
      return product(x, outputs, /*parts=*/2,
                     [&](int64_t j, int64_t k) { return root(productModulo(j, k, n), n); });
    for (int64_t a = static_cast<int64_t>(std::sqrt(static_cast<double>(n))); a > 1; --a)
      if (n % a == 0)
        return fit(divided(x, a), 1, outputs);
    return fit(byConvolution(x), 1, outputs);
  }
  Complex operator()(const Complex &x) { return (*this)(x, x.real.dim(1)); }

  /// The real signal of n elements of which x is the first half of the transform, without division.
  Complex realOf(const Complex &x, int64_t n) {
    // The other half is the complex conjugate, which doubles the real parts.
    if (isDirect(x.real.dim(1) * partsOf(x), n))
      return product(x, n, /*parts=*/1, [&](int64_t k, int64_t j) {
        double factor = k == 0 || 2 * k == n ? 1 : 2;
        auto [cosine, sine] = root(productModulo(j, k, n), n);
        return std::pair(factor * cosine, factor * sine);
      });
    auto mirror = [&](Tensor part) {
      return part.sliceDim(1, 1, n - part.dim(1) + 1).reverse({1});
    };
    Complex mirrored = conjugate(x.map(mirror));
    auto whole = [](Tensor half, Tensor other) { return prim::concatenate({half, other}, 1); };
    std::optional<Tensor> imaginary;
    if (x.imaginary)
      imaginary = whole(*x.imaginary, *mirrored.imaginary);
    return Complex((*this)(Complex(whole(x.real, mirrored.real), imaginary)).real);
  }

private:
  static int64_t partsOf(const Complex &x) { return x.imaginary ? 2 : 1; }
  static bool isDirect(int64_t rows, int64_t columns) {
    return rows <= 64 || columns <= kLargestMatrix / rows;
  }

  /// One matrix product, of which the result has one part or two. `factor` is the complex number
  /// with which element j counts in result k where the sign is +.
  Complex product(const Complex &x, int64_t outputs, int64_t parts,
                  llvm::function_ref<std::pair<double, double>(int64_t, int64_t)> factor) {
    int64_t n = x.real.dim(1), rows = n * partsOf(x), columns = outputs * parts;
    SmallVector<double> matrix(rows * columns);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t k = 0; k < outputs; ++k) {
        auto [cosine, sine] = factor(j, k);
        auto put = [&](int64_t ofElement, int64_t ofResult, double value) {
          if (ofElement < partsOf(x) && ofResult < parts)
            matrix[(ofElement * n + j) * columns + ofResult * outputs + k] = value;
        };
        put(0, 0, cosine);
        put(0, 1, sign * sine);
        put(1, 0, -sign * sine);
        put(1, 1, cosine);
      }
    Tensor left = x.imaginary ? prim::concatenate({x.real, *x.imaginary}, 1) : x.real;
    Tensor right = node.reals(matrix, {rows, columns}, x.real.elementType());
    Tensor y = prim::dotGeneral(left, right, {}, {}, {1}, {0});
    if (parts == 1)
      return Complex(y);
    return Complex(y.sliceDim(1, 0, outputs), y.sliceDim(1, outputs, columns));
  }

  /// n = a b: transforms of a, and of these transforms of b (J. W. Cooley, J. W. Tukey, 1965).
  /// Element j = j1 b + j2 counts in result k = k1 + a k2 with the product of the roots
  /// w_a^(j1 k1) w_n^(j2 k1) w_b^(j2 k2).
  Complex divided(const Complex &x, int64_t a) {
    int64_t n = x.real.dim(1), b = n / a, rows = x.real.dim(0);
    // [rows, first, second] as [rows second, first].
    auto columns = [&](int64_t first, int64_t second) {
      return [=](Tensor part) {
        return part.reshape({rows, first, second})
            .transpose({0, 2, 1})
            .reshape({rows * second, first});
      };
    };
    Complex y = (*this)(x.map(columns(a, b)));
    SmallVector<std::pair<double, double>> twiddles;
    for (int64_t j2 = 0; j2 < b; ++j2)
      for (int64_t k1 = 0; k1 < a; ++k1)
        twiddles.push_back(root(sign * j2 * k1, n));
    Complex factors = constant(node, twiddles, {b, a}, x.real.elementType());
    y = y.map([&](Tensor part) { return part.reshape({rows, b, a}); });
    y = y * broadcastTo(factors, y.real.shape());
    y = (*this)(y.map(columns(b, a)));
    return y.map([&](Tensor part) { return columns(a, b)(part).reshape({rows, n}); });
  }

  /// A convolution, for lengths without divisors, by transforms of a power of two (L. I. Bluestein,
  /// 1970): j k = (j^2 + k^2 - (k - j)^2) / 2.
  Complex byConvolution(const Complex &x) {
    int64_t n = x.real.dim(1), padded = 1;
    while (padded < 2 * n - 1)
      padded *= 2;
    SmallVector<std::pair<double, double>> chirp, kernel(padded);
    for (int64_t j = 0; j < n; ++j) {
      chirp.push_back(root(sign * productModulo(j, j, 2 * n), 2 * n));
      for (int64_t at : {j, (padded - j) % padded})
        kernel[at] = {chirp.back().first, -chirp.back().second};
    }
    Type type = x.real.elementType();
    Complex w = broadcastTo(constant(node, chirp, {1, n}, type), x.real.shape());
    Transform forward(node, -1), backward(node, 1);
    Complex filter = forward(constant(node, kernel, {1, padded}, type));
    Complex y = forward(fit(x * w, 1, padded));
    y = backward(y * broadcastTo(filter, y.real.shape()));
    return fit(y, 1, n) * w * (1 / static_cast<double>(padded));
  }

  NodeBuilder &node;
  int sign;
};

} // namespace

Complex accc::frontend::fourier(NodeBuilder &node, const Complex &x, int64_t axis,
                                const FourierOptions &options) {
  int64_t n = options.length, half = n / 2 + 1, rank = x.real.rank();
  if (n < 1 || n > kLongest)
    fail("a Fourier transform of " + Twine(n) + " elements is not supported: at most " +
         Twine(kLongest) + " are");
  bool fromHalf = options.isInverse && options.isOneSided;
  // The axis last; the others are rows.
  SmallVector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[axis], order[rank - 1]);
  Complex moved =
      fit(x, axis, fromHalf ? half : n).map([&](Tensor part) { return part.transpose(order); });
  SmallVector<int64_t> shape(moved.real.shape());
  int64_t rows = 1;
  for (int64_t extent : ArrayRef(shape).drop_back())
    rows *= extent;
  moved = moved.map([&](Tensor part) { return part.reshape({rows, shape.back()}); });

  Transform transform(node, options.isInverse ? 1 : -1);
  Complex y =
      fromHalf ? transform.realOf(moved, n) : transform(moved, options.isOneSided ? half : n);
  if (options.scale != 1)
    y = y * options.scale;
  shape.back() = y.real.dim(1);
  tensorType(shape, x.real.elementType());
  return y.map([&](Tensor part) { return part.reshape(shape).transpose(order); });
}

/// The positions of the elements of frames, [frames, length].
static Tensor positionsOf(NodeBuilder &node, int64_t count, int64_t length, int64_t step) {
  SmallVector<int64_t> shape = {count, length};
  return node.iota(shape, 0) * static_cast<double>(step) + node.iota(shape, 1);
}

Tensor accc::frontend::framesOf(NodeBuilder &node, Tensor x, int64_t length, int64_t step) {
  int64_t batch = x.dim(0), elements = x.dim(1);
  if (length > elements)
    fail("a frame of " + Twine(length) + " elements does not fit a signal of " + Twine(elements));
  int64_t count = (elements - length) / step + 1, blocks = (length + step - 1) / step;
  tensorType({batch, count, length}, node.builder().getI64Type());
  if (blocks > kMostBlocks)
    return x.gather(positionsOf(node, count, length, step), 1);
  // A frame is some blocks of `step` elements, one after the other.
  int64_t all = count + blocks - 1;
  Tensor split = fit(x, 1, all * step).reshape({batch, all, step});
  SmallVector<Tensor> pieces;
  for (int64_t i = 0; i < blocks; ++i)
    pieces.push_back(split.sliceDim(1, i, i + count));
  return fit(node.concatenate(pieces, 2), 2, length);
}

Tensor accc::frontend::sumOfFrames(NodeBuilder &node, Tensor frames, int64_t step) {
  int64_t batch = frames.dim(0), count = frames.dim(1), length = frames.dim(2);
  int64_t blocks = (length + step - 1) / step, all = count + blocks - 1;
  int64_t total = (count - 1) * step + length;
  tensorType({batch, all, step}, frames.elementType());
  if (blocks > kMostBlocks) {
    Tensor at = positionsOf(node, count, length, step).reshape({count * length});
    return node.full({batch, total}, frames.elementType(), 0)
        .scatter(at, frames.reshape({batch, count * length}), 1, prim::ScatterKind::add);
  }
  // Block i of every frame, [batch, frames, step], moved i blocks on.
  Tensor padded = fit(frames, 2, blocks * step);
  std::optional<Tensor> sum;
  for (int64_t i = 0; i < blocks; ++i) {
    Tensor piece =
        padded.sliceDim(2, i * step, (i + 1) * step).pad(0.0, {0, i, 0}, {0, all - count - i, 0});
    sum = sum ? *sum + piece : piece;
  }
  return fit(sum->reshape({batch, all * step}), 1, total);
}
