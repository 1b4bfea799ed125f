// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic, logic, shifts and bit fields.
#include "Expression.h"

using namespace accc::ptx::test;
using i16 = int16_t;
using u16 = uint16_t;
using i32 = int32_t;
using u32 = uint32_t;
using i64 = int64_t;
using u64 = uint64_t;

TEST_CASE("addition, subtraction and multiplication wrap around") {
  check2<u16, u16, u16>("add.u16 $o, $a, $b;", [](u32 a, u32 b) { return u16(a + b); });
  check2<i32, i32, i32>("add.s32 $o, $a, $b;", [](u32 a, u32 b) { return i32(a + b); });
  check2<i64, i64, i64>("sub.s64 $o, $a, $b;", [](u64 a, u64 b) { return i64(a - b); });
  check2<i32, i32, i32>("mul.lo.s32 $o, $a, $b;", [](u32 a, u32 b) { return i32(a * b); });
  check2<u16, u16, u16>("mul.lo.s16 $o, $a, $b;", [](u32 a, u32 b) { return u16(a * b); });
  check2<i32, i32, i32>("add.sat.s32 $o, $a, $b;", [](i64 a, i64 b) {
    return i32(std::min<i64>(std::max<i64>(a + b, INT32_MIN), INT32_MAX));
  });
  check1<i32, i32>("add.s32 $o, $a, -4;", [](u32 a) { return i32(a - 4); });
}

TEST_CASE("high and wide products") {
  check2<i32, i32, i32>("mul.hi.s32 $o, $a, $b;", [](i64 a, i64 b) { return i32(a * b >> 32); });
  check2<u32, u32, u32>("mul.hi.u32 $o, $a, $b;", [](u64 a, u64 b) { return u32(a * b >> 32); });
  check2<u64, u64, u64>("mul.hi.u64 $o, $a, $b;",
                        [](u64 a, u64 b) { return u64((unsigned __int128)(a)*b >> 64); });
  check2<i64, i64, i64>("mul.hi.s64 $o, $a, $b;",
                        [](i64 a, i64 b) { return i64((__int128)(a)*b >> 64); });
  check2<i64, i32, i32>("mul.wide.s32 $o, $a, $b;", [](i64 a, i64 b) { return a * b; });
  check2<u32, u16, u16>("mul.wide.u16 $o, $a, $b;", [](u32 a, u32 b) { return a * b; });
  std::vector<i32> few = {0, 1, -1, 46341, INT32_MIN, INT32_MAX};
  check3<i32, i32, i32, i32>(
      "mad.lo.s32 $o, $a, $b, $c;", [](u32 a, u32 b, u32 c) { return i32(a * b + c); }, few, few,
      few);
  check3<i64, i32, i32, i64>("mad.wide.s32 $o, $a, $b, $c;",
                             [](i64 a, i64 b, i64 c) { return i64(u64(a * b) + u64(c)); }, few, few,
                             {0, -1, INT64_MAX});
  check3<i32, i32, i32, i32>(
      "mad.hi.s32 $o, $a, $b, $c;",
      [](i64 a, i64 b, i64 c) { return i32(u32(a * b >> 32) + u32(c)); }, few, few, few);
  check2<i32, i32, i32>("mul24.lo.s32 $o, $a, $b;", [](u32 a, u32 b) {
    return i32(u32(i64(i32(a << 8) >> 8) * i64(i32(b << 8) >> 8)));
  });
  check2<u32, u32, u32>("mul24.hi.u32 $o, $a, $b;",
                        [](u64 a, u64 b) { return u32((a & 0xffffff) * (b & 0xffffff) >> 16); });
}

TEST_CASE("carries go through whole chains") {
  check2<u64, u64, u64>(
      "{.reg .b32 al, ah, bl, bh, ol, oh; mov.b64 {al, ah}, $a; mov.b64 {bl, bh}, $b;\n"
      "add.cc.u32 ol, al, bl; addc.u32 oh, ah, bh; mov.b64 $o, {ol, oh};}",
      [](u64 a, u64 b) { return a + b; });
  check2<u64, u64, u64>(
      "{.reg .b32 al, ah, bl, bh, ol, oh; mov.b64 {al, ah}, $a; mov.b64 {bl, bh}, $b;\n"
      "sub.cc.u32 ol, al, bl; subc.u32 oh, ah, bh; mov.b64 $o, {ol, oh};}",
      [](u64 a, u64 b) { return a - b; });
  check2<u64, u64, u64>(
      "{.reg .b32 al, ah, bl, bh, ol, oh, z; mov.b64 {al, ah}, $a; mov.b64 {bl, bh}, $b;\n"
      "mov.u32 z, 0; mad.lo.cc.u32 ol, al, bl, z; madc.hi.u32 oh, al, bl, z;\n"
      "mad.lo.u32 oh, al, bh, oh; mad.lo.u32 oh, ah, bl, oh; mov.b64 $o, {ol, oh};}",
      [](u64 a, u64 b) { return a * b; });
}

TEST_CASE("division, where it is defined") {
  auto nonzero = [] {
    std::vector<i32> values = samples<i32>();
    std::erase(values, 0);
    return values;
  }();
  check2<i32, i32, i32>(
      "div.s32 $o, $a, $b;", [](i64 a, i64 b) { return i32(a / b); }, samples<i32>(), nonzero);
  check2<i32, i32, i32>(
      "rem.s32 $o, $a, $b;", [](i64 a, i64 b) { return i32(a % b); }, samples<i32>(), nonzero);
  check2<u64, u64, u64>("div.u64 $o, $a, $b;", [](u64 a, u64 b) { return a / b; }, samples<u64>(),
                        {1, 3, ~u64(0)});
  check2<u16, u16, u16>("rem.u16 $o, $a, $b;", [](u32 a, u32 b) { return u16(a % b); },
                        samples<u16>(), {1, 3, 0xffff});
  check1<u32, u32>("div.u32 $o, $a, 0;", [](u32) { return ~0u; });
}

TEST_CASE("minimum, maximum, absolute value and sign") {
  check2<i32, i32, i32>("min.s32 $o, $a, $b;", [](i32 a, i32 b) { return std::min(a, b); });
  check2<u32, u32, u32>("max.u32 $o, $a, $b;", [](u32 a, u32 b) { return std::max(a, b); });
  check2<i16, i16, i16>("max.s16 $o, $a, $b;", [](i16 a, i16 b) { return std::max(a, b); });
  check1<i64, i64>("abs.s64 $o, $a;", [](i64 a) { return a < 0 ? i64(-u64(a)) : a; });
  check1<i32, i32>("neg.s32 $o, $a;", [](u32 a) { return i32(-a); });
  check2<u32, u32, u32>("min.s16x2 $o, $a, $b;", [](u32 a, u32 b) {
    return u32(u16(std::min(i16(a), i16(b)))) | u32(u16(std::min(i16(a >> 16), i16(b >> 16))))
                                                    << 16;
  });
  check2<u32, u32, u32>("add.u16x2 $o, $a, $b;", [](u32 a, u32 b) {
    return u32(u16(a + b)) | u32(u16((a >> 16) + (b >> 16))) << 16;
  });
}

TEST_CASE("logic on bits and predicates") {
  check2<u32, u32, u32>("and.b32 $o, $a, $b;", [](u32 a, u32 b) { return a & b; });
  check2<u64, u64, u64>("xor.b64 $o, $a, $b;", [](u64 a, u64 b) { return a ^ b; });
  check1<u16, u16>("not.b16 $o, $a;", [](u32 a) { return u16(~a); });
  check1<u32, u32>("cnot.b32 $o, $a;", [](u32 a) { return u32(a == 0); });
  check2<u32, u32, u32>(
      "setp.lt.u32 %p2, $a, 100; setp.lt.u32 %p3, $b, 100; xor.pred %p4, %p2, %p3;\n"
      "not.pred %p4, %p4; selp.u32 $o, 1, 0, %p4;",
      [](u32 a, u32 b) { return u32((a < 100) == (b < 100)); });
  std::vector<u32> few = {0, ~0u, 0x12345678, 0xf0f0aaaa};
  for (unsigned table : {0x80u, 0xfeu, 0x96u, 0xcau, 0x01u})
    check3<u32, u32, u32, u32>(
        "lop3.b32 $o, $a, $b, $c, " + std::to_string(table) + ";",
        [=](u32 a, u32 b, u32 c) {
          u32 result = 0;
          for (unsigned i = 0; i < 32; ++i)
            result |= (table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
          return result;
        },
        few, few, few);
}

TEST_CASE("shifts by the width or more shift everything out") {
  check2<u32, u32, u32>("shl.b32 $o, $a, $b;", [](u32 a, u32 b) { return b > 31 ? 0 : a << b; });
  check2<i32, i32, u32>("shr.s32 $o, $a, $b;", [](i32 a, u32 b) { return a >> std::min(b, 31u); });
  check2<u64, u64, u32>("shr.u64 $o, $a, $b;", [](u64 a, u32 b) { return b > 63 ? 0 : a >> b; });
  check2<i16, i16, u32>("shr.s16 $o, $a, $b;",
                        [](i16 a, u32 b) { return i16(a >> std::min(b, 15u)); });
  check2<u16, u16, u32>("shl.b16 $o, $a, $b;",
                        [](u32 a, u32 b) { return b > 15 ? u16(0) : u16(a << b); });
  std::vector<u32> values = {0, 1, 0x80000000, 0xdeadbeef}, by = {0, 1, 31, 32, 33, 200};
  auto both = [](u32 low, u32 high) { return u64(high) << 32 | low; };
  check3<u32, u32, u32, u32>(
      "shf.l.wrap.b32 $o, $a, $b, $c;",
      [=](u32 a, u32 b, u32 c) { return u32(both(a, b) << (c & 31) >> 32); }, values, values, by);
  check3<u32, u32, u32, u32>(
      "shf.r.clamp.b32 $o, $a, $b, $c;",
      [=](u32 a, u32 b, u32 c) { return u32(both(a, b) >> std::min(c, 32u)); }, values, values, by);
  check3<u32, u32, u32, u32>(
      "shf.l.clamp.b32 $o, $a, $b, $c;",
      [=](u32 a, u32 b, u32 c) { return c >= 32 ? a : u32(both(a, b) << c >> 32); }, values, values,
      by);
}

TEST_CASE("bit fields") {
  std::vector<u32> at = {0, 1, 7, 16, 31, 32, 40, 255, 256}, length = {0, 1, 8, 31, 32, 33, 255};
  // The manual's own definition, bit by bit.
  auto extract = [](auto a, u32 first, u32 count, bool isSigned) {
    using T = decltype(a);
    unsigned most = 8 * sizeof(T) - 1, position = first & 255, width = count & 255;
    auto bit = [&](unsigned i) { return u64(a) >> i & 1; };
    u64 sign = !isSigned || width == 0 ? 0 : bit(std::min(position + width - 1, most)), result = 0;
    for (unsigned i = 0; i <= most; ++i)
      result |= (i < width && position + i <= most ? bit(position + i) : sign) << i;
    return result;
  };
  check3<i32, i32, u32, u32>(
      "bfe.s32 $o, $a, $b, $c;",
      [&](i32 a, u32 b, u32 c) { return i32(extract(u32(a), b, c, true)); }, samples<i32>(), at,
      length);
  check3<u64, u64, u32, u32>(
      "bfe.u64 $o, $a, $b, $c;", [&](u64 a, u32 b, u32 c) { return extract(a, b, c, false); },
      samples<u64>(), at, length);
  check3<u32, u32, u32, u32>(
      "bfi.b32 $o, $a, 0x55555555, $b, $c;",
      [](u32 a, u32 first, u32 count) {
        u32 result = 0x55555555, position = first & 255, width = count & 255;
        for (unsigned i = 0; i < width && position + i < 32; ++i)
          result = (result & ~(1u << (position + i))) | (a >> i & 1) << (position + i);
        return result;
      },
      samples<u32>(), at, length);
}

TEST_CASE("counting, finding and reversing bits") {
  check1<u32, u32>("clz.b32 $o, $a;", [](u32 a) { return u32(std::countl_zero(a)); });
  check1<u32, u64>("clz.b64 $o, $a;", [](u64 a) { return u32(std::countl_zero(a)); });
  check1<u32, u64>("popc.b64 $o, $a;", [](u64 a) { return u32(std::popcount(a)); });
  check1<u32, u32>("bfind.u32 $o, $a;",
                   [](u32 a) { return a ? 31u - u32(std::countl_zero(a)) : ~0u; });
  check1<u32, i32>("bfind.s32 $o, $a;", [](i32 a) {
    u32 value = a < 0 ? ~u32(a) : u32(a);
    return value ? 31u - u32(std::countl_zero(value)) : ~0u;
  });
  check1<u32, u32>("bfind.shiftamt.u32 $o, $a;",
                   [](u32 a) { return a ? u32(std::countl_zero(a)) : ~0u; });
  check1<u32, u32>("brev.b32 $o, $a;", [](u32 a) {
    u32 result = 0;
    for (unsigned i = 0; i < 32; ++i)
      result |= (a >> i & 1) << (31 - i);
    return result;
  });
}

TEST_CASE("permutations of bytes") {
  std::vector<u32> values = {0x03020100, 0x87068504};
  auto byteOf = [](u32 a, u32 b, unsigned i) { return u32((u64(b) << 32 | a) >> (8 * i) & 255); };
  check3<u32, u32, u32, u32>("prmt.b32 $o, $a, $b, $c;",
                             [&](u32 a, u32 b, u32 c) {
                               u32 result = 0;
                               for (unsigned i = 0; i < 4; ++i) {
                                 u32 value = byteOf(a, b, c >> (4 * i) & 7);
                                 result |= (c >> (4 * i) & 8 ? (value & 128 ? 255u : 0u) : value)
                                           << (8 * i);
                               }
                               return result;
                             },
                             values, values, {0x3210, 0x7654, 0x5410, 0xfb73, 0x89ab});
  check3<u32, u32, u32, u32>(
      "prmt.b32.f4e $o, $a, $b, $c;",
      [&](u32 a, u32 b, u32 c) { return u32((u64(b) << 32 | a) >> (8 * (c & 3))); }, values, values,
      {0, 1, 2, 3});
  check3<u32, u32, u32, u32>("prmt.b32.rc8 $o, $a, $b, $c;",
                             [&](u32 a, u32 b, u32 c) { return byteOf(a, b, c & 3) * 0x01010101u; },
                             values, values, {0, 1, 2, 3});
}
