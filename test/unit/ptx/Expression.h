// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single instructions against functions of the host, over all combinations of edge values.
#ifndef ACCC_TEST_UNIT_PTX_EXPRESSION_H
#define ACCC_TEST_UNIT_PTX_EXPRESSION_H

#include "Device.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <sstream>
#include <tuple>

namespace accc::ptx::test {

template <class T> const char *registerPrefix() {
  if constexpr (std::is_same_v<T, float>)
    return "%f";
  if constexpr (std::is_same_v<T, double>)
    return "%fd";
  return sizeof(T) == 2 ? "%rs" : sizeof(T) == 4 ? "%r" : "%rd";
}

/// Values at which arithmetic goes wrong.
template <class T> std::vector<T> samples() {
  if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    return {T(0),
            T(-0.0),
            T(1),
            T(-1),
            T(0.5),
            T(1.5),
            T(2.5),
            T(-2.5),
            T(3.1415927410125732),
            T(-7.7e-20),
            T(1e10),
            T(16777217),
            T(-2147483904.0),
            T(4294967296.0),
            T(1e19),
            T(0.49999997),
            Limits::infinity(),
            -Limits::infinity(),
            Limits::quiet_NaN(),
            Limits::denorm_min(),
            -Limits::denorm_min() * 12345,
            Limits::min(),
            Limits::max(),
            -Limits::max()};
  } else {
    std::vector<T> values;
    for (int64_t value : {0ll,
                          1ll,
                          -1ll,
                          2ll,
                          3ll,
                          -7ll,
                          8ll,
                          15ll,
                          16ll,
                          31ll,
                          32ll,
                          33ll,
                          63ll,
                          64ll,
                          200ll,
                          -32768ll,
                          32767ll,
                          65535ll,
                          0x7fffffffll,
                          -0x80000000ll,
                          0x12345678ll,
                          0x00ffff00ll,
                          0x7fffffffffffffffll,
                          -0x7fffffffffffffffll - 1,
                          0x123456789abcdefll})
      values.push_back(T(value));
    return values;
  }
}

/// Half-precision patterns.
inline std::vector<uint16_t> halfSamples() {
  return {0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x83ff, 0x0400, 0x7bff,
          0xfbff, 0x7c00, 0xfc00, 0x7e01, 0x3555, 0x1400, 0x3c01, 0x4248,
          0x3f80, 0xbf81, 0x0080, 0x7f7f, 0x7f80, 0xff80, 0x4049, 0x3eab};
}

/// `body` computes $o from $a, $b, $c of each thread.
template <class R, class... A>
std::vector<R> evaluate(const std::string &body, const std::vector<A> &...inputs) {
  const size_t count = std::get<0>(std::tie(inputs...)).size();
  std::ostringstream text;
  std::string code = body;
  auto replace = [&](const std::string &what, const std::string &by) {
    for (size_t at; (at = code.find(what)) != code.npos;)
      code.replace(at, what.size(), by);
  };
  text << "mov.u32 %r30, %ctaid.x;\nmad.lo.s32 %r31, %r30, 96, 0;\nmov.u32 %r32, %tid.x;\nadd.s32 "
          "%r31, %r31, %r32;\n"
       << "setp.ge.u32 %p1, %r31, " << count << ";\n@%p1 bra DONE;\n";
  unsigned number = 0;
  auto loadInput = [&]<class T>(const std::vector<T> &) {
    std::string name = registerPrefix<T>() + std::to_string(number + 1);
    std::string type = (std::is_floating_point_v<T> ? "f" : "b") + std::to_string(8 * sizeof(T));
    text << "mul.wide.u32 %rd30, %r31, " << sizeof(T) << ";\nadd.s64 %rd31, %rd30, %a" << number
         << ";\nld.global." << type << " " << name << ", [%rd31];\n";
    replace(std::string("$") + char('a' + number), name);
    ++number;
  };
  (loadInput(inputs), ...);
  std::string result = registerPrefix<R>() + std::to_string(9);
  replace("$o", result);
  text << code << "\nmul.wide.u32 %rd30, %r31, " << sizeof(R) << ";\nadd.s64 %rd31, %rd30, %a"
       << number << ";\nst.global." << (std::is_floating_point_v<R> ? "f" : "b") << 8 * sizeof(R)
       << " [%rd31], " << result << ";\nDONE:\n";
  Device device(kernelText(number + 1, text.str()));
  uint64_t out = device.allocate(count * sizeof(R));
  device.run({uint32_t((count + 95) / 96)}, {96}, {device.upload(inputs)..., out});
  return device.download<R>(out, count);
}

/// The values as they are, with NaNs of any pattern alike.
template <class T> bool isSame(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
  else
    return a == b;
}

template <class R, class... A, class F>
void compareAll(const std::string &body, F expected, const std::vector<A> &...inputs) {
  std::vector<R> results = evaluate<R>(body, inputs...);
  for (size_t i = 0; i < results.size(); ++i) {
    R wanted = R(expected(inputs[i]...));
    if (isSame(results[i], wanted))
      continue;
    std::ostringstream message;
    message << body << " of";
    ((message << " " << +inputs[i]), ...);
    FAIL_CHECK(message.str() << ": " << +results[i] << " instead of " << +wanted);
  }
  SUCCEED();
}

/// One operand, two, or three: all combinations of the samples.
template <class R, class A, class F>
void check1(const std::string &body, F expected, const std::vector<A> &a = samples<A>()) {
  compareAll<R>(body, expected, a);
}
template <class R, class A, class B, class F>
void check2(const std::string &body, F expected, const std::vector<A> &a = samples<A>(),
            const std::vector<B> &b = samples<B>()) {
  std::vector<A> first;
  std::vector<B> second;
  for (A x : a)
    for (B y : b) {
      first.push_back(x);
      second.push_back(y);
    }
  compareAll<R>(body, expected, first, second);
}
template <class R, class A, class B, class C, class F>
void check3(const std::string &body, F expected, const std::vector<A> &a = samples<A>(),
            const std::vector<B> &b = samples<B>(), const std::vector<C> &c = samples<C>()) {
  std::vector<A> first;
  std::vector<B> second;
  std::vector<C> third;
  for (A x : a)
    for (B y : b)
      for (C z : c) {
        first.push_back(x);
        second.push_back(y);
        third.push_back(z);
      }
  compareAll<R>(body, expected, first, second, third);
}

} // namespace accc::ptx::test

#endif
