// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Fourier.h"
#include "frontend/common/FourierPlan.h"
#include "frontend/common/Padding.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

namespace {

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

/// Those of n, by the indices of an element and of a result.
auto rootsOf(int64_t n) {
  return [=](int64_t j, int64_t k) { return root(productModulo(j, k, n), n); };
}

/// A constant of complex numbers.
Complex constant(NodeBuilder &node, ArrayRef<std::pair<double, double>> values,
                 ArrayRef<int64_t> shape, Type elementType) {
  return Complex(
      node.reals(llvm::map_to_vector(values, [](auto z) { return z.first; }), shape, elementType),
      node.reals(llvm::map_to_vector(values, [](auto z) { return z.second; }), shape, elementType));
}

Complex fitted(const Complex &x, int64_t dimension, int64_t extent) {
  return x.map([&](Tensor part) { return fit(part, dimension, extent); });
}

Complex reshaped(const Complex &x, ArrayRef<int64_t> shape) {
  return x.map([&](Tensor part) { return part.reshape(shape); });
}
Complex transposed(const Complex &x, ArrayRef<int64_t> permutation) {
  return x.map([&](Tensor part) { return part.transpose(permutation); });
}

/// The first two dimensions in the other order.
Complex swapped(const Complex &x) {
  SmallVector<int64_t> permutation(x.real.rank());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[0], permutation[1]);
  return transposed(x, permutation);
}

SmallVector<int64_t> joined(ArrayRef<int64_t> first, ArrayRef<int64_t> others) {
  SmallVector<int64_t> shape(first);
  llvm::append_range(shape, others);
  return shape;
}

Complex concatenated(const Complex &x, const Complex &y, int64_t dimension) {
  std::optional<Tensor> imaginary;
  if (x.imaginary)
    imaginary = prim::concatenate({*x.imaginary, *y.imaginary}, dimension);
  return Complex(prim::concatenate({x.real, y.real}, dimension), imaginary);
}

/// The whole transform, n elements along d, of reals, of which x is the first half: the other half
/// is that, from the end, conjugate.
Complex mirrored(const Complex &x, int64_t n, int64_t d) {
  int64_t count = n - x.real.dim(d);
  if (count == 0)
    return x;
  Complex other = x.map([&](Tensor part) { return part.sliceDim(d, 1, count + 1).reverse({d}); });
  return concatenated(x, conjugate(other), d);
}

/// Transforms of lines: sums of x_j exp(sign 2 pi i j k / n), which nothing divides. The lines lie
/// along d = 0 of [n, m], or along d = 1 of [m, n]. Where m stands first it is one dimension; else
/// it may be several, by which kernels know where neighbours end.
///
/// n = a b is done by transforms of a, and of these transforms of b (J. W. Cooley, J. W. Tukey,
/// 1965): element j = j1 b + j2 counts in result k = k1 + a k2 with the product of the roots
/// w_a^(j1 k1) w_n^(j2 k1) w_b^(j2 k2). The transforms of a are along the first dimension, those of
/// b along d, so that what is multiplied with the roots lies in runs of neighbours before and
/// after.
class Transform {
public:
  Transform(NodeBuilder &node, int sign) : node(node), sign(sign) {}

  /// All elements.
  Complex whole(const Complex &x, int64_t d) {
    int64_t n = x.real.dim(d);
    if (!x.imaginary)
      return mirrored(half(x.real, d), n, d);
    FourierStep step = plan.step(n, /*isReal=*/false);
    switch (step.method) {
    case FourierMethod::Product:
      return product(x, d, n, /*parts=*/2, rootsOf(n));
    case FourierMethod::Factors:
      return wholeByFactors(x, d, step.first);
    case FourierMethod::Convolution:
      return byConvolution(x, d);
    }
    llvm_unreachable("no such method");
  }

  /// The first n / 2 + 1 elements, which say everything of a transform of reals.
  Complex half(Tensor x, int64_t d) {
    int64_t n = x.dim(d), count = n / 2 + 1;
    FourierStep step = plan.step(n, /*isReal=*/true);
    switch (step.method) {
    case FourierMethod::Product:
      return product(Complex(x), d, count, /*parts=*/2, rootsOf(n));
    case FourierMethod::Factors:
      return halfByFactors(x, d, step.first);
    case FourierMethod::Convolution:
      return fitted(byConvolution(Complex(x), d), d, count);
    }
    llvm_unreachable("no such method");
  }

  /// The real signal of n elements of which x is the first half of the transform.
  Tensor realOf(const Complex &x, int64_t d, int64_t n) {
    FourierStep step = plan.step(n, /*isReal=*/true);
    switch (step.method) {
    case FourierMethod::Product:
      // The other half is the complex conjugate, which doubles the real parts.
      return product(x, d, n, /*parts=*/1,
                     [&](int64_t k, int64_t j) {
                       double factor = k == 0 || 2 * k == n ? 1 : 2;
                       auto [cosine, sine] = rootsOf(n)(j, k);
                       return std::pair(factor * cosine, factor * sine);
                     })
          .real;
    case FourierMethod::Factors:
      return realByFactors(x, d, n, step.first);
    case FourierMethod::Convolution:
      return whole(mirrored(x, n, d), d).real;
    }
    llvm_unreachable("no such method");
  }

private:
  using Factor = llvm::function_ref<std::pair<double, double>(int64_t, int64_t)>;

  /// The dimensions of columns that number them.
  static ArrayRef<int64_t> othersOf(const Complex &x) { return x.real.shape().drop_front(); }

  /// One matrix product, of which the result has one part or two. `factor` is the complex number
  /// with which element j counts in result k where the sign is +.
  Complex product(const Complex &x, int64_t d, int64_t outputs, int64_t parts, Factor factor) {
    int64_t n = x.real.dim(d), partsOfX = x.imaginary ? 2 : 1;
    int64_t from = n * partsOfX, to = outputs * parts;
    // Rows of results where the lines are columns, so that neither matrix is read transposed.
    SmallVector<double> matrix(from * to);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t k = 0; k < outputs; ++k) {
        auto [cosine, sine] = factor(j, k);
        auto put = [&](int64_t ofElement, int64_t ofResult, double value) {
          int64_t row = ofElement * n + j, column = ofResult * outputs + k;
          if (ofElement < partsOfX && ofResult < parts)
            matrix[d == 1 ? row * to + column : column * from + row] = value;
        };
        put(0, 0, cosine);
        put(0, 1, sign * sine);
        put(1, 0, -sign * sine);
        put(1, 1, cosine);
      }
    Tensor lines = x.imaginary ? prim::concatenate({x.real, *x.imaginary}, d) : x.real;
    SmallVector<int64_t> shape = {d == 1 ? from : to, d == 1 ? to : from};
    Tensor roots = node.reals(matrix, shape, x.real.elementType());
    Tensor y = d == 1 ? prim::dotGeneral(lines, roots, {}, {}, {1}, {0}, /*fullPrecision=*/true)
                      : prim::dotGeneral(roots, lines, {}, {}, {1}, {0}, /*fullPrecision=*/true);
    if (parts == 1)
      return Complex(y);
    return Complex(y.sliceDim(d, 0, outputs), y.sliceDim(d, outputs, to));
  }

  // ---- factors ----

  /// The lines of the first transforms, [a, b, m] or [a, m, b].
  static Complex firstLines(const Complex &x, int64_t d, int64_t a) {
    int64_t b = x.real.dim(d) / a;
    if (d == 0)
      return reshaped(x, joined({a, b}, othersOf(x)));
    return transposed(reshaped(x, {x.real.dim(0), a, b}), {1, 0, 2});
  }

  /// What the first transforms gave, some k1 of each, times w_n^(j2 k1): [k1, b, m] or [k1, m, b].
  Complex twiddled(const Complex &y, int64_t d, int64_t n) {
    int64_t count = y.real.dim(0), b = y.real.dim(d + 1);
    SmallVector<std::pair<double, double>> roots;
    for (int64_t k1 = 0; k1 < count; ++k1)
      for (int64_t j2 = 0; j2 < b; ++j2)
        roots.push_back(root(sign * j2 * k1, n));
    Complex factors = constant(node, roots, {count, b}, y.real.elementType());
    return y * factors.map([&](Tensor part) { return part.broadcast(y.real.shape(), {0, d + 1}); });
  }

  /// The transforms of b of that, [k2, k1, m] or [m, k2, k1].
  Complex secondOf(const Complex &y, int64_t d) {
    if (d == 0)
      return whole(swapped(y), 0);
    int64_t count = y.real.dim(0), m = y.real.dim(1), b = y.real.dim(2);
    Complex z = whole(reshaped(y, {count * m, b}), 1);
    return transposed(reshaped(z, {count, m, b}), {1, 2, 0});
  }

  Complex wholeByFactors(const Complex &x, int64_t d, int64_t a) {
    Complex y = twiddled(whole(firstLines(x, d, a), 0), d, x.real.dim(d));
    return reshaped(secondOf(y, d), x.real.shape());
  }

  /// Transforms of reals need no more than half of the k1, of which the others are the conjugate:
  /// result k1 + a k2 is that of (a - k1) + a (b - 1 - k2).
  Complex halfByFactors(Tensor x, int64_t d, int64_t a) {
    int64_t n = x.dim(d), b = n / a, some = a / 2 + 1;
    int64_t lines = n / 2 / a + 1; // of a results
    Complex y = secondOf(twiddled(half(firstLines(Complex(x), d, a).real, 0), d, n), d);
    Complex all = y.map([&](Tensor part) { return part.sliceDim(d, 0, lines); });
    if (int64_t others = a - some) {
      Complex rest = y.map([&](Tensor part) {
        return part.sliceDim(d, b - lines, b).sliceDim(d + 1, 1, others + 1).reverse({d, d + 1});
      });
      all = concatenated(all, conjugate(rest), d + 1);
    }
    SmallVector<int64_t> shape(x.shape());
    shape[d] = lines * a;
    return fitted(reshaped(all, shape), d, n / 2 + 1);
  }

  /// The same from the end: sums over k2 for half of the k1, and then over these.
  Tensor realByFactors(const Complex &x, int64_t d, int64_t n, int64_t a) {
    int64_t b = n / a, some = a / 2 + 1;
    Complex y = mirrored(x, n, d);
    SmallVector<int64_t> shape(y.real.shape()), blocks(shape); // [k2, k1, m] or [m, k2, k1]
    blocks[d] = b;
    blocks.insert(blocks.begin() + d + 1, a);
    y = reshaped(y, blocks).map([&](Tensor part) { return part.sliceDim(d + 1, 0, some); });
    if (d == 0) {
      y = swapped(whole(y, 0));
    } else {
      int64_t m = x.real.dim(0);
      y = reshaped(whole(reshaped(transposed(y, {2, 0, 1}), {some * m, b}), 1), {some, m, b});
    }
    Tensor signal = realOf(twiddled(y, d, n), 0, a); // [a, b, m] or [a, m, b]
    return d == 0 ? signal.reshape(shape) : signal.transpose({1, 0, 2}).reshape(shape);
  }

  /// A convolution, for lengths without divisors, by transforms of a power of two (L. I. Bluestein,
  /// 1970): j k = (j^2 + k^2 - (k - j)^2) / 2.
  Complex byConvolution(const Complex &x, int64_t d) {
    int64_t n = x.real.dim(d), padded = FourierPlan::paddedLength(n);
    SmallVector<std::pair<double, double>> chirp, kernel(padded);
    for (int64_t j = 0; j < n; ++j) {
      chirp.push_back(root(sign * productModulo(j, j, 2 * n), 2 * n));
      for (int64_t at : {j, (padded - j) % padded})
        kernel[at] = {chirp.back().first, -chirp.back().second};
    }
    Type type = x.real.elementType();
    auto alongLines = [&](const Complex &line, ArrayRef<int64_t> shape) {
      return reshaped(line, shape[d]).map([&](Tensor part) { return part.broadcast(shape, {d}); });
    };
    Complex w = alongLines(constant(node, chirp, {n}, type), x.real.shape());
    Transform forward(node, -1), backward(node, 1);
    Complex filter = forward.whole(constant(node, kernel, {1, padded}, type), 1);
    Complex y = forward.whole(fitted(x * w, d, padded), d);
    y = backward.whole(y * alongLines(filter, y.real.shape()), d);
    return fitted(y, d, n) * w * (1 / static_cast<double>(padded));
  }

  NodeBuilder &node;
  int sign;
  FourierPlan plan;
};

} // namespace

Complex accc::frontend::fourier(NodeBuilder &node, const Complex &x, int64_t axis,
                                const FourierOptions &options) {
  int64_t n = options.length, half = n / 2 + 1, rank = x.real.rank();
  if (n < 1 || n > kLongest)
    fail("a Fourier transform of " + Twine(n) + " elements is not supported: at most " +
         Twine(kLongest) + " are");
  bool fromHalf = options.isInverse && options.isOneSided;
  // Lines along the first dimension of [n, m], or along the last of [m, n]: that of an axis behind
  // which few elements are neighbours, or none.
  constexpr int64_t kFewNeighbours = 8;
  int64_t neighbours = ReferenceArray::count(x.real.shape().drop_front(axis + 1));
  int64_t d = neighbours < kFewNeighbours ? 1 : 0;
  SmallVector<int64_t> order, back(rank);
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      order.push_back(i);
  order.insert(d == 0 ? order.begin() : order.end(), axis);
  for (auto [to, from] : llvm::enumerate(order))
    back[from] = static_cast<int64_t>(to);
  Complex moved = transposed(fitted(x, axis, fromHalf ? half : n), order);
  SmallVector<int64_t> shape(moved.real.shape());
  if (d == 1)
    moved = reshaped(moved, {ReferenceArray::count(ArrayRef(shape).drop_back()), shape.back()});

  Transform transform(node, options.isInverse ? 1 : -1);
  auto transformed = [&] {
    if (fromHalf)
      return Complex(transform.realOf(moved, d, n));
    if (options.isOneSided && !moved.imaginary)
      return transform.half(moved.real, d);
    Complex all = transform.whole(moved, d);
    return options.isOneSided ? fitted(all, d, half) : all;
  };
  Complex y = transformed();
  if (options.scale != 1)
    y = y * options.scale;
  (d == 0 ? shape.front() : shape.back()) = y.real.dim(d);
  tensorType(shape, x.real.elementType());
  return transposed(reshaped(y, shape), back);
}
