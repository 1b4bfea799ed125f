// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fourier transforms, and the windows that signals are cut with.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Fourier.h"
#include "frontend/common/Frames.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

// ---- transforms ----

enum class Kind {
  /// Complex numbers to complex numbers.
  Full,
  /// The first half of the transform of reals.
  FromReal,
  /// Reals from the first half of their transform.
  ToReal,
};

/// A transform along some dimensions, the last of which is halved where its kind says so.
struct Plan {
  Kind kind;
  bool isInverse;
  SmallVector<int64_t> dims, lengths;

  /// The number of elements that a transform sums up.
  double count() const {
    double product = 1;
    for (int64_t length : lengths)
      product *= static_cast<double>(length);
    return product;
  }
};

Complex transformed(Node &node, Complex x, const Plan &plan, double scale) {
  if (plan.kind == Kind::FromReal && x.imaginary)
    fail("transforms reals, but the tensor has complex numbers");
  // The halved dimension comes first where that makes of reals complex numbers, else last.
  SmallVector<size_t> order;
  for (size_t i = 0; i < plan.dims.size(); ++i)
    order.push_back(i);
  size_t last = plan.dims.size() - 1;
  if (plan.kind == Kind::FromReal)
    std::rotate(order.begin(), order.begin() + last, order.end());
  for (size_t i : order) {
    FourierOptions options;
    options.length = plan.lengths[i];
    options.isInverse = plan.isInverse;
    options.isOneSided = i == last && plan.kind != Kind::Full;
    options.scale = i == order.back() ? scale : 1;
    x = fourier(node, x, plan.dims[i], options);
  }
  return x;
}

Entity resultOf(Node &node, const Complex &x, Kind kind) {
  return kind == Kind::ToReal ? Entity(x.real) : Entity(x.value(node));
}

Complex signal(Node &node) {
  return node.complexIn("self").map([&](Tensor part) { return asFloat(node, part); });
}

/// What torch.fft divides by: "backward", the default, only inverse transforms by their length.
double scaleOf(Node &node, bool isInverse, double count) {
  std::string norm = node.has("norm") ? node.string("norm") : "backward";
  if (norm == "ortho")
    return 1 / std::sqrt(count);
  if (norm != "forward" && norm != "backward")
    fail("the normalization '" + norm + "' is not known");
  return isInverse == (norm == "backward") ? 1 / count : 1;
}

/// The dimensions and lengths of a call: `n` and `dim`, or `s` and `dim`.
Plan planOf(Node &node, Tensor x, Kind kind, bool isInverse, StringRef lengths) {
  Plan plan{kind, isInverse, {}, {}};
  SmallVector<int64_t> given = node.has(lengths) ? node.integers(lengths) : SmallVector<int64_t>();
  if (node.has("dim"))
    plan.dims = node.integers("dim");
  else
    for (int64_t d = node.has(lengths) ? x.rank() - static_cast<int64_t>(given.size()) : 0;
         d < x.rank(); ++d)
      plan.dims.push_back(d);
  if (node.has(lengths) && given.size() != plan.dims.size())
    fail("'dim' and '" + lengths + "' have different lengths");
  for (int64_t &d : plan.dims)
    d = node.axis(d, x.rank());
  node.axes(plan.dims, x.rank()); // distinct ones
  if (plan.dims.empty())
    fail("a transform along no dimension is not supported");
  for (auto [i, d] : llvm::enumerate(plan.dims)) {
    bool isHalf = kind == Kind::ToReal && i + 1 == plan.dims.size();
    bool isGiven = node.has(lengths) && given[i] != -1;
    plan.lengths.push_back(isGiven ? given[i] : isHalf ? 2 * (x.dim(d) - 1) : x.dim(d));
  }
  return plan;
}

template <Kind kind, bool isInverse, bool isOne> Entities transform(Node &node) {
  Complex x = signal(node);
  Plan plan = planOf(node, x.real, kind, isInverse, isOne ? "n" : "s");
  double scale = scaleOf(node, isInverse, plan.count());
  return {resultOf(node, transformed(node, x, plan, scale), kind)};
}

/// Real spectra, of which the signal is the first half.
template <bool isOne> Entities hermitian(Node &node) {
  Complex x = signal(node);
  Plan plan = planOf(node, x.real, Kind::ToReal, /*isInverse=*/true, isOne ? "n" : "s");
  double scale = scaleOf(node, /*isInverse=*/false, plan.count());
  return {transformed(node, conjugate(x), plan, scale).real};
}
template <bool isOne> Entities inverseHermitian(Node &node) {
  Complex x = signal(node);
  Plan plan = planOf(node, x.real, Kind::FromReal, /*isInverse=*/false, isOne ? "n" : "s");
  double scale = scaleOf(node, /*isInverse=*/true, plan.count());
  return {conjugate(transformed(node, x, plan, scale)).value(node)};
}

/// The operators that PyTorch makes of these: of a given size, with a number for what they divide
/// by: nothing, the root of the count, the count.
Entities primitiveTransform(Node &node, Kind kind, bool isInverse) {
  Complex x = signal(node);
  Plan plan = planOf(node, x.real, kind, isInverse, "s");
  if (kind == Kind::ToReal)
    plan.lengths.back() = node.integer("last_dim_size");
  int64_t normalization = node.integer("normalization");
  if (normalization < 0 || normalization > 2)
    fail("the normalization " + Twine(normalization) + " is not known");
  double scale = normalization == 0   ? 1
                 : normalization == 1 ? 1 / std::sqrt(plan.count())
                                      : 1 / plan.count();
  return {resultOf(node, transformed(node, x, plan, scale), kind)};
}
Entities realToComplex(Node &node) {
  return primitiveTransform(node, node.boolean("onesided") ? Kind::FromReal : Kind::Full,
                            /*isInverse=*/false);
}
Entities complexToReal(Node &node) {
  return primitiveTransform(node, Kind::ToReal, /*isInverse=*/true);
}
Entities complexToComplex(Node &node) {
  return primitiveTransform(node, Kind::Full, !node.boolean("forward"));
}

/// The zero frequency in the middle, or back at the start.
template <bool isInverse> Entities shifted(Node &node) {
  ArrayRef<int64_t> shape = node.tensorType("self").getShape();
  Integers dims, shifts;
  if (node.has("dim"))
    dims = node.integers("dim");
  else
    for (size_t d = 0; d < shape.size(); ++d)
      dims.push_back(static_cast<int64_t>(d));
  for (int64_t &d : dims) {
    d = node.axis(d, static_cast<int64_t>(shape.size()));
    shifts.push_back((shape[d] + isInverse) / 2);
  }
  node.set("shifts", shifts);
  node.set("dims", dims);
  return findOperator("roll")->rule(node);
}

/// The frequencies of a transform's results, in cycles per `d`.
template <bool isHalf> Entities frequencies(Node &node) {
  int64_t n = node.integer("n");
  if (n < 1 || n > int64_t(1) << 24)
    fail("a transform of " + Twine(n) + " elements is not supported");
  SmallVector<double> values;
  for (int64_t k = 0; k < (isHalf ? n / 2 + 1 : n); ++k)
    values.push_back(static_cast<double>(isHalf || k < (n + 1) / 2 ? k : k - n) /
                     (static_cast<double>(n) * node.number("d")));
  Type type = node.elementType("dtype", node.forward().defaultFloat());
  return {node.reals(values, {static_cast<int64_t>(values.size())}, type)};
}

// ---- windows ----

/// weights[0] - weights[1] cos(t) + weights[2] cos(2 t): t goes around once. A periodic window
/// leaves out the last element.
Entities cosineWindow(Node &node, ArrayRef<double> weights) {
  int64_t length = node.integer("window_length");
  if (length < 0 || length > int64_t(1) << 24)
    fail("a window of " + Twine(length) + " elements is not supported");
  double steps = static_cast<double>(node.boolean("periodic") ? length : length - 1);
  SmallVector<double> values;
  for (int64_t i = 0; i < length; ++i) {
    double value = 0, sign = 1;
    for (auto [k, weight] : llvm::enumerate(weights)) {
      value += sign * weight * std::cos(2 * M_PI * static_cast<double>(k) * double(i) / steps);
      sign = -sign;
    }
    values.push_back(length == 1 ? 1 : value);
  }
  Type type = node.elementType("dtype", node.forward().defaultFloat());
  return {node.reals(values, {length}, type)};
}
Entities hannWindow(Node &node) { return cosineWindow(node, {0.5, 0.5}); }
Entities hammingWindow(Node &node) {
  double alpha = node.number("alpha"), beta = node.number("beta");
  return cosineWindow(node, {alpha, beta});
}
Entities blackmanWindow(Node &node) { return cosineWindow(node, {0.42, 0.5, 0.08}); }

// ---- transforms of frames ----

/// The frames of a call of stft or istft.
struct Frames {
  int64_t length, step;
  Tensor window; // [length]
};

Frames framesOf(Node &node, Type elementType) {
  int64_t length = node.integer("n_fft");
  int64_t step = node.has("hop_length") ? node.integer("hop_length") : length / 4;
  int64_t width = node.has("win_length") ? node.integer("win_length") : length;
  if (length < 1 || length > int64_t(1) << 24 || step < 1 || width < 1 || width > length)
    fail("frames of " + Twine(length) + " elements, " + Twine(step) + " apart, with windows of " +
         Twine(width) + " are not possible");
  Tensor window = node.has("window") ? node.in("window").convert(elementType)
                                     : node.full({width}, elementType, 1);
  if (window.shape() != ArrayRef(width))
    fail("the window has the shape " + show(window.shape()) + " for frames of " + Twine(width) +
         " elements");
  int64_t left = (length - width) / 2;
  return {length, step, window.pad(0.0, {left}, {length - width - left})};
}

double frameScale(Node &node, const Frames &frames, bool isInverse) {
  double count = static_cast<double>(frames.length);
  return node.boolean("normalized") ? 1 / std::sqrt(count) : isInverse ? 1 / count : 1;
}

/// A rule for [batch, ...], of a tensor of `rank` dimensions or, without a batch, one less.
Complex batched(const Complex &x, int64_t rank, llvm::function_ref<Complex(const Complex &)> rule) {
  if (x.real.rank() == rank)
    return rule(x);
  if (x.real.rank() != rank - 1)
    fail("the shape is " + show(x.real.shape()) + " where " + Twine(rank - 1) + " or " +
         Twine(rank) + " dimensions are needed");
  auto grown = [](Tensor part) {
    SmallVector<int64_t> shape(part.shape());
    shape.insert(shape.begin(), 1);
    return part.reshape(shape);
  };
  return rule(x.map(grown)).map([](Tensor part) {
    return part.reshape(part.shape().drop_front());
  });
}

/// Half a frame more at both ends, so that frames have their middles at multiples of the step.
Tensor centred(Node &node, Tensor x) {
  int64_t half = node.integer("n_fft") / 2;
  Node padding = node;
  padding.set("self", x.reshape({1, x.dim(0), x.dim(1)}).get());
  padding.set("pad", Integers{half, half});
  padding.set("mode", node.string("pad_mode"));
  padding.set("value", NoValue());
  Tensor y = node.wrap(findOperator("pad")->rule(padding).front().tensor);
  return y.reshape({x.dim(0), x.dim(1) + 2 * half});
}

/// [batch, elements] as [batch, frequencies, frames].
template <bool isCentred> Entities shortTime(Node &node) {
  Complex x = signal(node);
  Type type = x.real.elementType();
  if (node.has("window"))
    type = promoteTypes(type, node.in("window").elementType());
  Frames frames = framesOf(node, type);
  if (node.has("align_to_window") && node.boolean("align_to_window"))
    fail("align_to_window=True is not supported");
  FourierOptions options;
  options.length = frames.length;
  options.isOneSided = node.has("onesided") ? node.boolean("onesided") : !x.imaginary;
  options.scale = frameScale(node, frames, /*isInverse=*/false);
  if (options.isOneSided && x.imaginary)
    fail("the transform of complex numbers has no half (onesided=False)");
  Complex y = batched(x, 2, [&](const Complex &signal) {
    Complex cut = signal.map([&](Tensor part) {
      if (isCentred && node.boolean("center"))
        part = centred(node, part);
      Tensor pieces = frontend::framesOf(node, part, frames.length, frames.step);
      return pieces.convert(type) * frames.window.broadcast(pieces.shape(), {2});
    });
    return fourier(node, cut, 2, options).map([](Tensor part) {
      return part.transpose({0, 2, 1});
    });
  });
  bool isPairs = node.has("return_complex") && !node.boolean("return_complex");
  return {isPairs ? Entity(y.pairs()) : Entity(y.value(node))};
}

/// The signal of which [batch, frequencies, frames] is the transform: frames are summed up, and
/// divided by the sum of their squared windows.
Entities inverseShortTime(Node &node) {
  if (node.boolean("return_complex"))
    fail("return_complex=True is not supported");
  Complex x = signal(node);
  Frames frames = framesOf(node, x.real.elementType());
  FourierOptions options;
  options.length = frames.length;
  options.isInverse = options.isOneSided = true; // of both sides, one says everything
  options.scale = frameScale(node, frames, /*isInverse=*/true);
  Complex y = batched(x, 3, [&](const Complex &spectrum) {
    Tensor pieces =
        fourier(node, spectrum.map([](Tensor part) { return part.transpose({0, 2, 1}); }), 2,
                options)
            .real;
    Tensor window = frames.window.broadcast(pieces.shape(), {2});
    Tensor sum = sumOfFrames(node, pieces * window, frames.step);
    Tensor weight = sumOfFrames(node, (window * window).sliceDim(0, 0, 1), frames.step);
    int64_t start = node.boolean("center") ? frames.length / 2 : 0, end = sum.dim(1) - start;
    int64_t length = node.has("length") ? node.integer("length") : end - start;
    if (node.has("length"))
      end = std::min(sum.dim(1), start + length);
    if (length < 1 || end <= start)
      fail("the signal would have no elements");
    auto cut = [&](Tensor whole) { return whole.sliceDim(1, start, end); };
    Tensor signal = cut(sum) / cut(weight).broadcastTo(cut(sum).shape());
    return Complex(signal.pad(0.0, {0, 0}, {0, length - (end - start)}));
  });
  return {y.real};
}

} // namespace

ArrayRef<OpRow> accc::aten::spectralOps() {
  using enum Kind;
  static const OpRow rows[] = {
      {"fft_fft(self, n=None, dim=-1, norm=None)", transform<Full, false, true>},
      {"fft_ifft(self, n=None, dim=-1, norm=None)", transform<Full, true, true>},
      {"fft_rfft(self, n=None, dim=-1, norm=None)", transform<FromReal, false, true>},
      {"fft_irfft(self, n=None, dim=-1, norm=None)", transform<ToReal, true, true>},
      {"fft_hfft(self, n=None, dim=-1, norm=None)", hermitian<true>},
      {"fft_ihfft(self, n=None, dim=-1, norm=None)", inverseHermitian<true>},
      {"fft_fft2(self, s=None, dim=[-2 -1], norm=None)", transform<Full, false, false>},
      {"fft_ifft2(self, s=None, dim=[-2 -1], norm=None)", transform<Full, true, false>},
      {"fft_rfft2(self, s=None, dim=[-2 -1], norm=None)", transform<FromReal, false, false>},
      {"fft_irfft2(self, s=None, dim=[-2 -1], norm=None)", transform<ToReal, true, false>},
      {"fft_fftn(self, s=None, dim=None, norm=None)", transform<Full, false, false>},
      {"fft_ifftn(self, s=None, dim=None, norm=None)", transform<Full, true, false>},
      {"fft_rfftn(self, s=None, dim=None, norm=None)", transform<FromReal, false, false>},
      {"fft_irfftn(self, s=None, dim=None, norm=None)", transform<ToReal, true, false>},
      {"fft_hfft2(self, s=None, dim=[-2 -1], norm=None)", hermitian<false>},
      {"fft_ihfft2(self, s=None, dim=[-2 -1], norm=None)", inverseHermitian<false>},
      {"fft_hfftn(self, s=None, dim=None, norm=None)", hermitian<false>},
      {"fft_ihfftn(self, s=None, dim=None, norm=None)", inverseHermitian<false>},
      {"fft_fftshift(self, dim=None)", shifted<false>},
      {"fft_ifftshift(self, dim=None)", shifted<true>},
      {"fft_fftfreq(n, d=1, *, dtype=None)", frequencies<false>},
      {"fft_rfftfreq(n, d=1, *, dtype=None)", frequencies<true>},
      {"_fft_r2c(self, dim, normalization, onesided, s=None)", realToComplex},
      {"_fft_c2r(self, dim, normalization, last_dim_size, s=None)", complexToReal},
      {"_fft_c2c(self, dim, normalization, forward, s=None)", complexToComplex},
      {"stft(self, n_fft, hop_length=None, win_length=None, window=None, normalized=False, "
       "onesided=None, return_complex=None, align_to_window=None)",
       shortTime<false>},
      {"stft.center(self, n_fft, hop_length=None, win_length=None, window=None, center=True, "
       "pad_mode='reflect', normalized=False, onesided=None, return_complex=None, "
       "align_to_window=None)",
       shortTime<true>},
      {"istft(self, n_fft, hop_length=None, win_length=None, window=None, center=True, "
       "normalized=False, onesided=None, length=None, return_complex=False)",
       inverseShortTime},
      {"hann_window(window_length, periodic=True, *, dtype=None)", hannWindow},
      {"hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None)",
       hammingWindow},
      {"blackman_window(window_length, periodic=True, *, dtype=None)", blackmanWindow},
  };
  return rows;
}
