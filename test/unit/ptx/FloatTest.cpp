// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f32, f64, f16 and bf16: rounding, subnormals, infinities, NaN.
#include "Expression.h"
#include "reference/ptx/Numbers.h"

#include <algorithm>

using namespace accc::ptx;
using namespace accc::ptx::test;

namespace {

const std::vector<float> few = {0,         -0.0f,   1,          -1.5f,    3.14159f,
                                1e-40f,    -1e-38f, 1e30f,      3e38f,    INFINITY,
                                -INFINITY, NAN,     0.3333333f, 16777215, 1.1754944e-38f};

/// Halfway between two values of f32, above and below, as a double.
double exact(float a, float b) { return double(a) * double(b); }

uint16_t half(double value) { return toHalf(value); }

} // namespace

TEST_CASE("f32 and f64 arithmetic is the host's") {
  check2<float, float, float>("add.rn.f32 $o, $a, $b;", [](float a, float b) { return a + b; });
  check2<float, float, float>("sub.f32 $o, $a, $b;", [](float a, float b) { return a - b; });
  check2<float, float, float>("mul.f32 $o, $a, $b;", [](float a, float b) { return a * b; });
  check2<double, double, double>("mul.rn.f64 $o, $a, $b;",
                                 [](double a, double b) { return a * b; });
  check2<float, float, float>("div.rn.f32 $o, $a, $b;", [](float a, float b) { return a / b; });
  check2<double, double, double>("div.rn.f64 $o, $a, $b;",
                                 [](double a, double b) { return a / b; });
  check3<float, float, float, float>(
      "fma.rn.f32 $o, $a, $b, $c;", [](float a, float b, float c) { return std::fma(a, b, c); },
      few, few, few);
  std::vector<double> doubles(few.begin(), few.end());
  check3<double, double, double, double>(
      "fma.rn.f64 $o, $a, $b, $c;", [](double a, double b, double c) { return std::fma(a, b, c); },
      doubles, doubles, doubles);
  check1<float, float>("sqrt.rn.f32 $o, $a;", [](float a) { return std::sqrt(a); });
  check1<float, float>("rcp.rn.f32 $o, $a;", [](float a) { return 1 / a; });
  check1<float, float>("add.f32 $o, $a, 0f3FC00000;", [](float a) { return a + 1.5f; });
  check1<double, double>("add.f64 $o, $a, 0d3FF8000000000000;", [](double a) { return a + 1.5; });
}

TEST_CASE("a NaN result is the canonical one") {
  std::vector<uint32_t> patterns = {0x7f800001, 0xffc12345};
  for (const char *body : {"{.reg .f32 x; mov.b32 x, $a; add.f32 x, x, x; mov.b32 $o, x;}",
                           "{.reg .f32 x; mov.b32 x, $a; min.f32 x, x, x; mov.b32 $o, x;}"})
    check1<uint32_t, uint32_t>(body, [](uint32_t) { return 0x7fffffffu; }, patterns);
}

TEST_CASE(".ftz flushes operands and results, with their sign") {
  check2<float, float, float>("add.ftz.f32 $o, $a, $b;",
                              [](float a, float b) { return flush(flush(a) + flush(b)); });
  check2<float, float, float>("mul.ftz.f32 $o, $a, $b;",
                              [](float a, float b) { return flush(flush(a) * flush(b)); });
  check3<float, float, float, float>(
      "fma.rn.ftz.f32 $o, $a, $b, $c;",
      [](float a, float b, float c) { return flush(std::fma(flush(a), flush(b), flush(c))); }, few,
      few, few);
  check2<uint32_t, float, float>("setp.eq.ftz.f32 %p2, $a, $b; selp.u32 $o, 1, 0, %p2;",
                                 [](float a, float b) { return uint32_t(flush(a) == flush(b)); });
  CHECK(std::signbit(flush(-1e-40f)));
  CHECK(flush(1.17549435e-38f) != 0);
}

TEST_CASE(".sat clamps to [0, 1], NaN to 0") {
  check2<float, float, float>("add.sat.f32 $o, $a, $b;", [](float a, float b) {
    float sum = a + b;
    return sum > 0 ? std::min(sum, 1.0f) : 0.0f;
  });
}

TEST_CASE("directed rounding") {
  // Ordered as the exact product and sum are, and one unit apart at most.
  for (const char *mode : {"rz", "rm", "rp"}) {
    std::string name = mode;
    auto round = [=](float nearest, double error) { // error: exact minus nearest
      if (!std::isfinite(nearest) || error == 0)
        return nearest;
      bool down = name == "rm" || (name == "rz" && (nearest > 0 || (nearest == 0 && error > 0)));
      if (down && error < 0)
        return std::nextafterf(nearest, -INFINITY);
      if (!down && error > 0)
        return std::nextafterf(nearest, INFINITY);
      return nearest;
    };
    std::vector<float> values = {1,        1.0000001f, 3.14159f,    -2.7182817f,
                                 16777215, 0.1f,       -0.3333333f, 1e10f};
    check2<float, float, float>(
        "mul." + name + ".f32 $o, $a, $b;",
        [=](float a, float b) { return round(a * b, exact(a, b) - double(a * b)); }, values,
        values);
    check2<float, float, float>(
        "add." + name + ".f32 $o, $a, $b;",
        [=](float a, float b) { return round(a + b, double(a) + double(b) - double(a + b)); },
        values, values);
    check2<float, float, float>(
        "fma." + name + ".f32 $o, $a, $b, 0f00000000;",
        [=](float a, float b) { return round(a * b, exact(a, b) - double(a * b)); }, values,
        values);
  }
  check1<double, double>("add.rp.f64 $o, $a, 0d3C90000000000000;",
                         [](double) { return std::nextafter(1.0, 2.0); }, {1.0});
  check1<double, double>("add.rm.f64 $o, $a, 0d3C90000000000000;", [](double a) { return a; },
                         {1.0});
}

TEST_CASE("minimum and maximum prefer numbers, and +0 to -0") {
  auto least = [](float a, float b) {
    if (a != a || b != b)
      return a != a ? b : a;
    return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
  };
  check2<float, float, float>("min.f32 $o, $a, $b;", least);
  check2<float, float, float>("max.f32 $o, $a, $b;",
                              [&](float a, float b) { return -least(-a, -b); });
  check2<float, float, float>("max.NaN.f32 $o, $a, $b;", [&](float a, float b) {
    return a != a || b != b ? NAN : -least(-a, -b);
  });
  check2<double, double, double>("min.f64 $o, $a, $b;", [](double a, double b) {
    if (a != a || b != b)
      return a != a ? b : a;
    return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
  });
}

TEST_CASE("signs and classes") {
  check1<float, float>("abs.f32 $o, $a;", [](float a) { return std::fabs(a); });
  check1<double, double>("neg.f64 $o, $a;", [](double a) { return -a; });
  check2<float, float, float>("copysign.f32 $o, $a, $b;",
                              [](float a, float b) { return std::copysign(b, a); });
  check1<uint32_t, float>("testp.finite.f32 %p2, $a; selp.u32 $o, 1, 0, %p2;",
                          [](float a) { return uint32_t(std::isfinite(a)); });
  check1<uint32_t, float>("testp.subnormal.f32 %p2, $a; selp.u32 $o, 1, 0, %p2;",
                          [](float a) { return uint32_t(std::fpclassify(a) == FP_SUBNORMAL); });
  check1<uint32_t, double>("testp.normal.f64 %p2, $a; selp.u32 $o, 1, 0, %p2;",
                           [](double a) { return uint32_t(std::isnormal(a) || a == 0); });
}

TEST_CASE("approximate functions give the rounded value") {
  std::vector<float> values = {0,      -0.0f, 1,   -1,       0.5f,      10,  -20,
                               127.5f, -140,  200, INFINITY, -INFINITY, NAN, 1e-40f};
  auto of = [](auto function) { return [=](float a) { return float(function(double(a))); }; };
  check1<float, float>("ex2.approx.f32 $o, $a;", of([](double a) { return std::exp2(a); }), values);
  check1<float, float>("lg2.approx.f32 $o, $a;", of([](double a) { return std::log2(a); }), values);
  check1<float, float>(
      "lg2.approx.ftz.f32 $o, $a;", [](float a) { return float(std::log2(flush(a))); }, values);
  check1<float, float>("sin.approx.f32 $o, $a;", of([](double a) { return std::sin(a); }), values);
  check1<float, float>("cos.approx.f32 $o, $a;", of([](double a) { return std::cos(a); }), values);
  check1<float, float>("tanh.approx.f32 $o, $a;", of([](double a) { return std::tanh(a); }),
                       values);
  check1<float, float>("rsqrt.approx.f32 $o, $a;", of([](double a) { return 1 / std::sqrt(a); }),
                       values);
  check1<float, float>(
      "rcp.approx.ftz.f32 $o, $a;", [](float a) { return flush(1 / flush(a)); }, values);
  check2<float, float, float>("div.full.f32 $o, $a, $b;", [](float a, float b) { return a / b; });
  check2<float, float, float>("div.approx.f32 $o, $a, $b;", [](float a, float b) { return a / b; });
}

TEST_CASE("conversion to narrow formats rounds once") {
  CHECK(half(65519.99) == 0x7bff);
  CHECK(half(65520) == 0x7c00);
  CHECK(half(0x1p-25) == 0);
  CHECK(half(0x1.8p-25) == 1);
  CHECK(half(1 + 0x1p-11) == 0x3c00);
  CHECK(half(1 + 0x1p-11 + 0x1p-40) == 0x3c01);
  CHECK(toHalf(65519, Rounding::Up) == 0x7c00);
  CHECK(toHalf(1e9, Rounding::Zero) == 0x7bff);
  CHECK(toBFloat(-0.0) == 0x8000);
  // All values of f16 come back, by any rounding.
  for (unsigned bits = 0; bits < 0x10000; ++bits)
    for (Rounding rounding : {Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up})
      if (float value = fromHalf(uint16_t(bits)); value == value)
        REQUIRE(toHalf(value, rounding) == bits);
  // To double's own 24 bits it is the host's conversion.
  for (double value :
       {1e-46, 7.0e-46, 7.1e-46, 1.0000000596046448, 3.4028235677973366e38, 1e-40, -2.5e-39})
    CHECK(roundTo(value, floatFormat, Rounding::Nearest) == std::bit_cast<uint32_t>(float(value)));
}

TEST_CASE("f16 and bf16 arithmetic rounds the exact value") {
  using u16 = uint16_t;
  using u32 = uint32_t;
  auto samples16 = halfSamples();
  auto nan = [](u16 bits) { return (bits & 0x7fff) > 0x7c00 ? u16(0x7fff) : bits; };
  auto bnan = [](u16 bits) { return (bits & 0x7fff) > 0x7f80 ? u16(0x7fff) : bits; };
  check2<u16, u16, u16>(
      "add.f16 $o, $a, $b;",
      [&](u16 a, u16 b) { return nan(half(double(fromHalf(a)) + fromHalf(b))); }, samples16,
      samples16);
  check2<u16, u16, u16>(
      "mul.f16 $o, $a, $b;",
      [&](u16 a, u16 b) { return nan(half(double(fromHalf(a)) * fromHalf(b))); }, samples16,
      samples16);
  // f32's fma of bf16 values rounds to 24 bits first, which long double's 64 bits do not make
  // worse.
  check3<u16, u16, u16, u16>(
      "fma.rn.f16 $o, $a, $b, $c;",
      [&](u16 a, u16 b, u16 c) {
        return nan(half(fmaToOdd(fromHalf(a), fromHalf(b), fromHalf(c))));
      },
      samples16, samples16, samples16);
  check3<u16, u16, u16, u16>(
      "fma.rn.bf16 $o, $a, $b, $c;",
      [&](u16 a, u16 b, u16 c) {
        return bnan(toBFloat(fmaToOdd(fromBFloat(a), fromBFloat(b), fromBFloat(c))));
      },
      samples16, samples16, samples16);
  // Both halves of a pair, each on its own.
  check2<u32, u32, u32>(
      "fma.rn.bf16x2 $o, $a, $b, $b;",
      [&](u32 a, u32 b) {
        auto one = [&](u16 x, u16 y) {
          return u32(bnan(toBFloat(fmaToOdd(fromBFloat(x), fromBFloat(y), fromBFloat(y)))));
        };
        return one(u16(a), u16(b)) | one(u16(a >> 16), u16(b >> 16)) << 16;
      },
      {0x3f803f00, 0x7f80c000, 0x00018000}, {0x40003f80, 0x42424141});
  check2<u32, u32, u32>("max.f16x2 $o, $a, $b;",
                        [](u32 a, u32 b) {
                          auto one = [](u16 x, u16 y) {
                            return u32(fromHalf(x) < fromHalf(y) ? y : x);
                          };
                          return one(u16(a), u16(b)) | one(u16(a >> 16), u16(b >> 16)) << 16;
                        },
                        {0x3c00bc00, 0x00017bff}, {0x3800c000, 0x80013c00});
  // 7 * 37 is 259, halfway between 258 and 260: what is added decides, however little it is.
  auto bf = [](double value) { return toBFloat(value); };
  check3<u16, u16, u16, u16>(
      "fma.rn.bf16 $o, $a, $b, $c;",
      [&](u16 a, u16, u16 c) {
        double sign = fromBFloat(a) < 0 ? -1 : 1;
        return bf(sign * (fromBFloat(c) == 0 || fromBFloat(c) * sign > 0 ? 260 : 258));
      },
      {bf(7), bf(-7)}, {bf(37)}, {bf(1e-30), bf(-1e-30), bf(0)});
}
