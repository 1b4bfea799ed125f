// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elementary functions of generated kernels against the C library in double precision.
//
//   ACCC_EXHAUSTIVE=1    every float instead of every 1021st (a minute or two a function); =N every
//   Nth
//   "[.bench]"           nanoseconds an element, 16 lanes, operands in the first-level cache

#include "MathKernel.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/bit.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

using accc::test::MathKernel;
using llvm::bit_cast;

namespace reference {
using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atan2, std::atanh, std::cos,
    std::cosh, std::erf, std::exp, std::exp2, std::expm1, std::log, std::log10, std::log1p,
    std::log2, std::pow, std::sin, std::sinh, std::tan, std::tanh;
static double rsqrt(double x) { return 1 / std::sqrt(x); }
} // namespace reference

/// |got - want| in units of the spacing of floats at `want`; infinity where one is NaN and the
/// other is not, or a zero has the wrong sign. An infinity counts as 2^128.
static double ulpError(float got, double want) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(want))
    return std::isnan(got) && std::isnan(want) ? 0 : infinity;
  if (want == 0)
    return got == 0 && std::signbit(got) == std::signbit(want) ? 0 : infinity;
  auto clamped = [](double x) { return std::fmin(std::fmax(x, -0x1p128), 0x1p128); };
  double target = clamped(want);
  int exponent = std::ilogb(std::fmin(std::fmax(std::fabs(target), 0x1p-126), 0x1.fffffep127));
  return std::fabs(clamped(got) - target) / std::ldexp(1.0, exponent - 23);
}

namespace {
/// The greatest error seen and where.
struct Worst {
  double ulp = -1;
  float x = 0, y = 0, got = 0;
  double want = 0;

  void see(float x, float y, float got, double want) {
    double error = ulpError(got, want);
    if (error > ulp)
      *this = {error, x, y, got, want};
  }
};
} // namespace

static constexpr int kBlock = 4096;

static int sampleStride() {
  const char *wanted = std::getenv("ACCC_EXHAUSTIVE");
  return wanted ? std::max(1, std::atoi(wanted)) : 1021;
}

static std::vector<float> specials() {
  constexpr auto limit = std::numeric_limits<float>();
  std::vector<float> values;
  for (float x : {0.0f,
                  limit.denorm_min(),
                  0x1.8p-130f,
                  limit.min(),
                  0x1.fffffep-127f,
                  0x1p-64f,
                  0x1p-24f,
                  0x1p-12f,
                  0.1f,
                  0.25f,
                  1 / 3.0f,
                  0.5f,
                  0x1.fffffep-2f,
                  0x1.000002p-1f,
                  2 / 3.0f,
                  0.7f,
                  0x1.fffffep-1f,
                  1.0f,
                  0x1.000002p0f,
                  4 / 3.0f,
                  1.5f,
                  2.0f,
                  2.5f,
                  3.0f,
                  3.5f,
                  4.0f,
                  5.0f,
                  10.0f,
                  17.0f,
                  88.0f,
                  88.7228390f,
                  88.8f,
                  89.4159851f,
                  89.5f,
                  103.97f,
                  104.0f,
                  127.0f,
                  128.0f,
                  129.0f,
                  149.0f,
                  150.0f,
                  151.0f,
                  1000.0f,
                  0x1p22f,
                  0x1.000002p22f,
                  0x1.fffffep22f,
                  0x1p23f,
                  0x1.000002p23f,
                  0x1p24f,
                  0x1p31f,
                  0x1p32f,
                  0x1p50f,
                  0x1p64f,
                  0x1p77f,
                  0x1p102f,
                  0x1.fffffep126f,
                  0x1p127f,
                  limit.max(),
                  limit.infinity(),
                  limit.quiet_NaN()}) {
    values.push_back(x);
    values.push_back(-x);
  }
  return values;
}

/// Calls `see(x, y, result)` for all of xs (and ys).
template <typename See>
static void evaluate(const MathKernel &kernel, std::vector<float> xs, std::vector<float> ys,
                     See see) {
  size_t count = xs.size(), padded = (count + kBlock - 1) / kBlock * kBlock;
  xs.resize(padded);
  ys.resize(padded);
  std::vector<float> results(padded);
  kernel(xs.data(), ys.data(), results.data(), padded);
  for (size_t i = 0; i < count; ++i)
    see(xs[i], ys[i], results[i]);
}

template <typename Reference>
static Worst worstOfUnary(const MathKernel &kernel, Reference reference) {
  Worst worst;
  auto see = [&](float x, float, float got) { worst.see(x, 0, got, reference(double(x))); };
  evaluate(kernel, specials(), {}, see);
  const uint64_t stride = sampleStride();
  std::vector<float> xs;
  for (uint64_t i = 0; i < uint64_t(1) << 32; i += stride) {
    xs.push_back(bit_cast<float>(uint32_t(i)));
    if (xs.size() == kBlock) {
      evaluate(kernel, xs, {}, see);
      xs.clear();
    }
  }
  evaluate(kernel, xs, {}, see);
  return worst;
}

template <typename Reference>
static Worst worstOfBinary(const MathKernel &kernel, Reference reference) {
  Worst worst;
  auto see = [&](float x, float y, float got) {
    worst.see(x, y, got, reference(double(x), double(y)));
  };
  std::vector<float> xs, ys;
  for (float x : specials())
    for (float y : specials())
      xs.push_back(x), ys.push_back(y);
  evaluate(kernel, xs, ys, see);
  std::mt19937 random(42);
  const int rounds = 400000 / sampleStride();
  for (int round = 0; round < rounds; ++round) {
    xs.resize(kBlock), ys.resize(kBlock);
    for (int i = 0; i < kBlock; ++i) {
      float x = bit_cast<float>(uint32_t(random())), y = bit_cast<float>(uint32_t(random()));
      float t = random() * 0x1p-32f;
      if (round % 4 == 1) // of like magnitude
        y = x * (4 * t - 2);
      else if (round % 4 == 2) // x^y between the ends of the floats
        y = float((t * 280 - 150) / std::log2(std::fabs(double(x))));
      else if (round % 4 == 3) // the same near 1
        x = 1 + (t - 0.5f) * 0x1p-6f, y = float((random() * 0x1p-32 * 280 - 150) / std::log2(x));
      xs[i] = x, ys[i] = y;
    }
    evaluate(kernel, xs, ys, see);
  }
  return worst;
}

static void report(const char *name, const Worst &worst, double bound) {
  std::printf("%-10s %7.3f ulp at %a", name, worst.ulp, worst.x);
  if (worst.y != 0)
    std::printf(", %a", worst.y);
  std::printf("\n");
  INFO(name << '(' << worst.x << ", " << worst.y << ") = " << worst.got << ", expected "
            << worst.want);
  CHECK(worst.ulp <= bound);
}

template <typename Op, typename Reference>
static void checkFunction(const char *name, double bound, Reference reference) {
  if constexpr (Op::template hasTrait<mlir::OpTrait::OneOperand>())
    report(name, worstOfUnary(MathKernel(Op::getOperationName(), 1), reference), bound);
  else
    report(name, worstOfBinary(MathKernel(Op::getOperationName(), 2), reference), bound);
}

#define ACCC_FUNCTION(OP, NAME, LIBM, ULP)                                                         \
  TEST_CASE("math " #NAME, "[math]") {                                                             \
    checkFunction<mlir::math::OP>(#NAME, ULP, [](auto... x) { return reference::NAME(x...); });    \
  }
#include "codegen/math/MathBounds.def"

TEST_CASE("math remainder is exact", "[math]") {
  auto reference = [](double x, double y) { return std::fmod(x, y); };
  MathKernel kernel("arith.remf", 2);
  report("remainder", worstOfBinary(kernel, reference), 0);
  // Quotients of every size: of random floats of each two magnitudes.
  Worst worst;
  auto see = [&](float x, float y, float got) {
    worst.see(x, y, got, reference(double(x), double(y)));
  };
  constexpr int kLeast = -149, kNormal = -126, kGreatest = 127, kDigits = 23;
  std::mt19937 random(43);
  auto floatOf = [&](int exponent) {
    int digits = std::min(exponent - kLeast, kDigits);
    uint32_t significand = uint32_t(random()) & ((1u << digits) - 1);
    return exponent < kNormal
               ? bit_cast<float>(1u << digits | significand)
               : bit_cast<float>(uint32_t(exponent - kNormal + 1) << kDigits | significand);
  };
  std::vector<float> xs, ys;
  for (int larger = kLeast; larger <= kGreatest; ++larger)
    for (int lesser = kLeast; lesser <= larger; ++lesser)
      xs.push_back(floatOf(larger)), ys.push_back(floatOf(lesser));
  evaluate(kernel, xs, ys, see);
  report("remainder", worst, 0);
}

TEST_CASE("math gives the same for every shape", "[math]") {
  std::vector<float> xs, ys, expected(kBlock), got(kBlock);
  std::mt19937 random(1);
  for (int i = 0; i < kBlock; ++i) {
    xs.push_back(bit_cast<float>(uint32_t(random())));
    ys.push_back(bit_cast<float>(uint32_t(random())));
  }
  auto same = [](float a, float b) {
    return bit_cast<uint32_t>(a) == bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
  };
  for (auto [op, arity] : {std::pair("math.exp", 1u),
                           {"math.log", 1u},
                           {"math.sin", 1u},
                           {"math.erf", 1u},
                           {"math.powf", 2u},
                           {"arith.remf", 2u}}) {
    MathKernel(op, arity)(xs.data(), ys.data(), expected.data(), kBlock);
    for (const char *lanes : {"", "1", "4", "8", "64", "2x8"}) {
      MathKernel(op, arity, "f32", lanes)(xs.data(), ys.data(), got.data(), kBlock);
      INFO(op << " on " << lanes);
      CHECK(std::equal(got.begin(), got.end(), expected.begin(), same));
    }
  }
}

TEST_CASE("math narrow types", "[math]") {
  // All values of a type, through f32; the rounding of the result is the only difference.
  std::vector<uint16_t> all(1 << 16), results(1 << 16);
  std::vector<float> xs(1 << 16), expected(1 << 16);
  for (unsigned i = 0; i < all.size(); ++i) {
    all[i] = i;
    xs[i] = bit_cast<float>(i << 16);
  }
  for (const char *op : {"math.tanh", "math.exp", "math.cos"}) {
    MathKernel(op, 1)(xs.data(), nullptr, expected.data(), xs.size());
    MathKernel(op, 1, "bf16")(all.data(), nullptr, results.data(), all.size());
    int wrong = 0;
    for (unsigned i = 0; i < all.size(); ++i) {
      uint32_t bits = bit_cast<uint32_t>(expected[i]);
      uint16_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
      wrong += std::isnan(expected[i]) ? (results[i] & 0x7fff) <= 0x7f80 : results[i] != rounded;
    }
    INFO(op);
    CHECK(wrong == 0);
  }
  MathKernel("math.exp2", 1, "f16")(all.data(), nullptr, results.data(), all.size());
  CHECK(results[0x3c00] == 0x4000); // exp2(1) = 2
  CHECK(results[0xcc00] == 0x0100); // exp2(-16) = 2^-16, subnormal
  CHECK(results[0x7c00] == 0x7c00); // infinity
  CHECK(results[0x4e00] == 0x7c00); // exp2(24) overflows
}

TEST_CASE("math f64 calls the C library", "[math]") {
  std::vector<double> xs = {-1.5, -0.0, 0.0, 0.25, 1.0, 3.0, 100.0, 1000.0}, ys(8, 0.75), got(8);
  MathKernel("math.exp", 1, "f64", "4")(xs.data(), nullptr, got.data(), 8);
  for (int i = 0; i < 8; ++i)
    CHECK(got[i] == std::exp(xs[i]));
  MathKernel("math.atan2", 2, "f64", "2x2")(xs.data(), ys.data(), got.data(), 8);
  for (int i = 0; i < 8; ++i)
    CHECK(got[i] == std::atan2(xs[i], ys[i]));
  MathKernel("math.rsqrt", 1, "f64", "")(xs.data() + 3, nullptr, got.data(), 4);
  for (int i = 0; i < 4; ++i)
    CHECK(got[i] == 1 / std::sqrt(xs[i + 3]));
}

static void bench(const char *name, const char *op, unsigned arity) {
  MathKernel kernel(op, arity);
  std::vector<float> xs(kBlock), ys(kBlock, 1.5f), results(kBlock);
  for (int i = 0; i < kBlock; ++i)
    xs[i] = 0.01f + 8.0f * i / kBlock;
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int repeat = 0; repeat < 200; ++repeat) {
    auto start = Clock::now();
    for (int i = 0; i < 8; ++i)
      kernel(xs.data(), ys.data(), results.data(), kBlock);
    std::chrono::duration<double, std::nano> took = Clock::now() - start;
    best = std::min(best, took.count() / (8 * kBlock));
  }
  std::printf("%-10s %6.3f ns\n", name, best);
}

TEST_CASE("math bench", "[.bench]") {
#define ACCC_FUNCTION(OP, NAME, LIBM, ULP)                                                         \
  bench(#NAME, mlir::math::OP::getOperationName().data(),                                          \
        mlir::math::OP::hasTrait<mlir::OpTrait::OneOperand>() ? 1 : 2);
#include "codegen/math/MathBounds.def"
  bench("floor", "math.floor", 1);
  bench("remainder", "arith.remf", 2);
}
