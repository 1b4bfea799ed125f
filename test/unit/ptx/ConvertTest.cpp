// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt, setp and its like, selection, mov.
#include "Expression.h"
#include "reference/ptx/Numbers.h"

using namespace accc::ptx;
using namespace accc::ptx::test;
using i32 = int32_t;
using u32 = uint32_t;
using i64 = int64_t;
using u64 = uint64_t;
using u16 = uint16_t;

TEST_CASE("between integers: cut and extended, or clamped") {
  check1<i64, i32>("cvt.s64.s32 $o, $a;", [](i32 a) { return i64(a); });
  check1<u64, u32>("cvt.u64.u32 $o, $a;", [](u32 a) { return u64(a); });
  check1<u32, u64>("cvt.u32.u64 $o, $a;", [](u64 a) { return u32(a); });
  check1<i32, i32>("cvt.s32.s8 $o, $a;", [](i32 a) { return i32(int8_t(a)); });
  check1<u32, u32>("cvt.u32.u16 $o, $a;", [](u32 a) { return a & 0xffff; });
  check1<u16, u32>("cvt.s16.s8 $o, $a;", [](u32 a) { return u16(int8_t(a)); });
  check1<u32, i64>("cvt.sat.u32.s64 $o, $a;", [](i64 a) {
    return a < 0 ? 0u : a > i64(~0u) ? ~0u : u32(a);
  });
  check1<i32, u32>("cvt.sat.s8.u32 $o, $a;", [](u32 a) { return i32(std::min(a, 127u)); });
}

TEST_CASE("from floating point to integers: clamped, NaN as the manual has it") {
  check1<i32, float>("cvt.rzi.s32.f32 $o, $a;", [](float a) {
    return a != a ? 0 : a >= 0x1p31f ? INT32_MAX : a <= -0x1p31f ? INT32_MIN : i32(a);
  });
  check1<u32, float>("cvt.rzi.u32.f32 $o, $a;", [](float a) {
    return a != a || a <= 0 ? 0u : a >= 0x1p32f ? ~0u : u32(a);
  });
  check1<i32, float>("cvt.rni.s32.f32 $o, $a;", [](float a) {
    double r = std::nearbyint(double(a));
    return a != a ? 0 : r >= 0x1p31 ? INT32_MAX : r <= -0x1p31 ? INT32_MIN : i32(r);
  });
  check1<i64, double>("cvt.rmi.s64.f64 $o, $a;", [](double a) {
    return a != a || a < -0x1p63 ? INT64_MIN : a >= 0x1p63 ? INT64_MAX : i64(std::floor(a));
  });
  check1<i32, float>("cvt.rpi.s8.f32 $o, $a;", [](float a) {
    return a != a ? 0 : a > 127 ? 127 : a <= -128 ? -128 : i32(std::ceil(a));
  });
}

TEST_CASE("from integers to floating point, in each rounding") {
  check1<float, i32>("cvt.rn.f32.s32 $o, $a;", [](i32 a) { return float(a); });
  check1<float, u64>("cvt.rn.f32.u64 $o, $a;", [](u64 a) { return float(a); });
  check1<double, i64>("cvt.rn.f64.s64 $o, $a;", [](i64 a) { return double(a); });
  check1<float, i32>("cvt.rz.f32.s32 $o, $a;", [](i32 a) {
    float nearest = float(a);
    return std::fabs(double(nearest)) > std::fabs(double(a)) ? std::nextafterf(nearest, 0)
                                                             : nearest;
  });
  check1<float, u32>("cvt.rp.f32.u32 $o, $a;", [](u32 a) {
    float nearest = float(a);
    return double(nearest) < double(a) ? std::nextafterf(nearest, INFINITY) : nearest;
  });
  check1<double, u64>("cvt.rm.f64.u64 $o, $a;", [](u64 a) {
    double nearest = double(a);
    return nearest >= 0x1p64 || u64(nearest) > a ? std::nextafter(nearest, 0) : nearest;
  });
  check1<u16, i32>("cvt.rn.f16.s32 $o, $a;", [](i32 a) { return toHalf(a); });
}

TEST_CASE("between floating-point types") {
  check1<double, float>("cvt.f64.f32 $o, $a;", [](float a) { return double(a); });
  check1<float, double>("cvt.rn.f32.f64 $o, $a;", [](double a) { return float(a); });
  check1<float, double>("cvt.rz.f32.f64 $o, $a;", [](double a) {
    float nearest = float(a);
    if (std::isinf(nearest) && !std::isinf(a))
      return std::copysign(std::numeric_limits<float>::max(), nearest);
    return std::fabs(double(nearest)) > std::fabs(a) ? std::nextafterf(nearest, 0) : nearest;
  });
  check1<float, float>("cvt.rni.f32.f32 $o, $a;", [](float a) { return std::nearbyintf(a); });
  check1<float, float>("cvt.rmi.f32.f32 $o, $a;", [](float a) { return std::floor(a); });
  check1<float, float>("cvt.ftz.f32.f32 $o, $a;", [](float a) { return flush(a); });
  check1<float, float>("cvt.sat.f32.f32 $o, $a;",
                       [](float a) { return a > 0 ? std::min(a, 1.0f) : 0.0f; });
  check1<u16, float>("cvt.rn.f16.f32 $o, $a;", [](float a) { return toHalf(a); });
  check1<u16, float>("cvt.rn.bf16.f32 $o, $a;", [](float a) { return toBFloat(a); });
  check1<u16, float>("cvt.rz.bf16.f32 $o, $a;",
                     [](float a) { return toBFloat(a, Rounding::Zero); });
  check1<float, u16>("cvt.f32.f16 $o, $a;", [](u16 a) { return fromHalf(a); }, halfSamples());
  check1<float, u16>("cvt.f32.bf16 $o, $a;", [](u16 a) { return fromBFloat(a); }, halfSamples());
  check2<u32, float, float>("cvt.rn.bf16x2.f32 $o, $a, $b;",
                            [](float a, float b) { return u32(toBFloat(a)) << 16 | toBFloat(b); });
  check2<u32, float, float>(
      "cvt.rn.relu.f16x2.f32 $o, $a, $b;",
      [](float a, float b) { return u32(toHalf(a < 0 ? 0 : a)) << 16 | toHalf(b < 0 ? 0 : b); },
      {1.5f, -1.5f, 1e6f}, {2, -2, 0.1f});
  check1<u32, float>("{.reg .b32 t; cvt.rna.tf32.f32 t, $a; mov.b32 $o, t;}", [](float a) {
    u32 bits = std::bit_cast<u32>(a);
    return a != a ? 0x7fffffff : std::isinf(a) ? bits : (bits + 0x1000) & 0xffffe000;
  });
}

TEST_CASE("comparisons of numbers, NaN and unsigned values") {
  auto predicate = [](const std::string &instruction) {
    return instruction + " selp.u32 $o, 1, 0, %p2;";
  };
  check2<u32, float, float>(predicate("setp.lt.f32 %p2, $a, $b;"),
                            [](float a, float b) { return u32(a < b); });
  check2<u32, float, float>(predicate("setp.ne.f32 %p2, $a, $b;"),
                            [](float a, float b) { return u32(a < b || a > b); });
  check2<u32, float, float>(predicate("setp.neu.f32 %p2, $a, $b;"),
                            [](float a, float b) { return u32(a != b); });
  check2<u32, double, double>(predicate("setp.gtu.f64 %p2, $a, $b;"),
                              [](double a, double b) { return u32(!(a <= b)); });
  check2<u32, float, float>(predicate("setp.nan.f32 %p2, $a, $b;"),
                            [](float a, float b) { return u32(a != a || b != b); });
  check2<u32, float, float>(predicate("setp.num.f32 %p2, $a, $b;"),
                            [](float a, float b) { return u32(a == a && b == b); });
  check2<u32, u32, u32>(predicate("setp.lo.u32 %p2, $a, $b;"),
                        [](u32 a, u32 b) { return u32(a < b); });
  check2<u32, i32, i32>(predicate("setp.ge.s32 %p2, $a, $b;"),
                        [](i32 a, i32 b) { return u32(a >= b); });
  check2<u32, u64, u64>(predicate("setp.eq.b64 %p2, $a, $b;"),
                        [](u64 a, u64 b) { return u32(a == b); });
  check2<u32, u16, u16>(
      predicate("setp.geu.f16 %p2, $a, $b;"),
      [](u16 a, u16 b) { return u32(!(fromHalf(a) < fromHalf(b))); }, halfSamples(), halfSamples());
  check2<u32, u16, u16>(
      predicate("setp.ne.bf16 %p2, $a, $b;"),
      [](u16 a, u16 b) {
        return u32(fromBFloat(a) < fromBFloat(b) || fromBFloat(a) > fromBFloat(b));
      },
      halfSamples(), halfSamples());
}

TEST_CASE("comparisons combined with a predicate, and both results") {
  check2<u32, i32, i32>("setp.gt.s32 %p3, $a, 10; setp.lt.and.s32 %p2|%p4, $a, $b, !%p3;\n"
                        "selp.u32 %r5, 1, 0, %p2; selp.u32 %r6, 2, 0, %p4; or.b32 $o, %r5, %r6;",
                        [](i32 a, i32 b) {
                          bool c = !(a > 10);
                          return u32((a < b && c) | (!(a < b) && c) << 1);
                        });
  check2<u32, i32, i32>("set.le.u32.s32 $o, $a, $b;",
                        [](i32 a, i32 b) { return a <= b ? ~0u : 0u; });
  check2<float, float, float>("set.gt.f32.f32 $o, $a, $b;",
                              [](float a, float b) { return a > b ? 1.0f : 0.0f; });
  check2<i32, i32, i32>("slct.s32.s32 $o, $a, $b, $a;",
                        [](i32 a, i32 b) { return a >= 0 ? a : b; });
  check2<float, float, float>("slct.f32.f32 $o, $a, $b, $b;",
                              [](float a, float b) { return b >= 0 ? a : b; });
}

TEST_CASE("registers are taken apart and put together") {
  check1<u64, u64>(
      "mov.b64 {%rs5, %rs6, %rs7, %rs8}, $a; mov.b64 $o, {%rs8, %rs7, %rs6, %rs5};",
      [](u64 a) { return a << 48 | (a & 0xffff0000) << 16 | (a >> 16 & 0xffff0000) | a >> 48; });
  check1<u32, u32>("mov.b32 {%rs5, _}, $a; mov.b32 $o, {%rs5, %rs5};",
                   [](u32 a) { return (a & 0xffff) * 0x10001; });
  check1<u32, float>("mov.b32 $o, $a;", [](float a) { return std::bit_cast<u32>(a); },
                     {1.5f, -0.0f});
  check1<u32, u32>("mov.u32 $o, WARP_SZ; add.u32 $o, $o, $a;", [](u32 a) { return a + 32; });
}
