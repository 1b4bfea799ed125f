// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions of other floats than f32 against those of f32, on numbers with which all are exact.
#include "Calls.h"
#include "Support.h"
#include "accc/tensor.h"
#include "data/HalfFloats.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

using namespace accc;
using namespace accc::test;

namespace {

/// Quarters in [-1, 1], of which some thousand products add up exactly in f32; with sums of them
/// below 2 they are exact in all types.
std::vector<float> quarters(int64_t count, uint32_t seed) {
  std::vector<float> values = randomFloats(static_cast<size_t>(count), seed);
  for (float &value : values)
    value = std::round(value * 4) / 4;
  return values;
}

std::vector<char> bytesOf(const std::vector<float> &values, int32_t dtype) {
  size_t width = dtype == ACCC_F64 ? 8 : dtype == ACCC_F32 ? 4 : 2;
  std::vector<char> bytes(values.size() * width);
  auto *at = bytes.data();
  for (float value : values) {
    double wide = value;
    uint16_t half = dtype == ACCC_F16 ? detail::toHalf(value) : detail::toBrainFloat(value);
    const void *from = width == 8   ? static_cast<const void *>(&wide)
                       : width == 4 ? static_cast<const void *>(&value)
                                    : &half;
    std::memcpy(at, from, width);
    at += width;
  }
  return bytes;
}

/// The result of a call of these types on the operands and the result's former contents.
std::vector<char> resultOf(accc_library_call call, std::array<int32_t, 3> dtypes, int threads,
                           const std::array<std::vector<float>, 3> &contents) {
  std::ranges::copy(dtypes, call.dtypes);
  REQUIRE_FALSE(detail::whyCpuCannot(call));
  std::vector<detail::Memory> memory;
  std::array<char *, 3> buffers;
  size_t resultBytes = 0;
  for (size_t i = 0; i < contents.size(); ++i) {
    std::vector<char> bytes = bytesOf(contents[i], dtypes[i]);
    memory.emplace_back(bytes.size() + 1, "a buffer");
    std::copy(bytes.begin(), bytes.end(), memory.back().data());
    buffers[i] = memory.back().data();
    resultBytes = bytes.size();
  }
  detail::Team team(threads);
  detail::Team::Scope scope(team);
  auto prepared = detail::createLibraryCall(call, team);
  detail::Memory scratch(prepared->scratchBytes(), "scratch");
  prepared->run(buffers.data(), scratch.data());
  return {buffers[2], buffers[2] + resultBytes};
}

void check(const accc_library_call &call, std::array<int64_t, 3> sizes) {
  std::array<std::vector<float>, 3> contents = {quarters(sizes[0], 1), quarters(sizes[1], 2),
                                                quarters(sizes[2], 3)};
  std::vector<char> bytes = resultOf(call, {ACCC_F32, ACCC_F32, ACCC_F32}, 1, contents);
  std::vector<float> expected(static_cast<size_t>(sizes[2]));
  if (!bytes.empty())
    std::memcpy(expected.data(), bytes.data(), bytes.size());
  auto checkTypes = [&](int32_t factors, int32_t result) {
    for (int threads : {1, 2}) {
      INFO("type " << factors << " to " << result << ", " << threads << " threads");
      CHECK(resultOf(call, {factors, factors, result}, threads, contents) ==
            bytesOf(expected, result));
    }
  };
  for (int32_t dtype : {ACCC_F64, ACCC_F16, ACCC_BF16})
    checkTypes(dtype, dtype);
  if (call.kind == ACCC_CALL_MATMUL)
    for (int32_t dtype : {ACCC_F16, ACCC_BF16})
      checkTypes(dtype, ACCC_F32);
}

} // namespace

TEST_CASE("matmul: f64, f16 and bf16, these also to f32") {
  SECTION("every layout") {
    auto flags = GENERATE(range(0, 16));
    accc_library_call call = matmul(3, 17, 9, 20, flags & 1, flags & 2, flags & 4);
    call.u.matmul.accumulate = (flags & 8) != 0;
    check(call, {3 * 17 * 20, 3 * 20 * 9, 3 * 17 * 9});
  }
  SECTION("large enough for a team") { check(matmul(1, 150, 130, 90), {13500, 11700, 19500}); }
  SECTION("without elements") {
    check(matmul(1, 3, 4, 0), {0, 0, 12});
    check(matmul(0, 3, 4, 5), {0, 0, 0});
  }
  SECTION("one right operand for all products, gaps in the left") {
    accc_library_call call = matmul(3, 4, 5, 6);
    call.u.matmul.b_batch_strides[0] = 0;
    call.u.matmul.a_row_stride = 8, call.u.matmul.a_batch_strides[0] = 40;
    check(call, {120, 30, 60});
  }
}

TEST_CASE("convolution: f64, f16 and bf16") {
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  auto layout = GENERATE(ACCC_CHANNELS_FIRST, ACCC_CHANNELS_LAST);
  for (const ConvolutionSpec &spec : std::vector<ConvolutionSpec>{
           {"2d", 2, 4, 6, 1, {9, 8}, {3, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 0}},
           {"groups", 2, 4, 6, 2, {9, 8}, {3, 2}, {1, 2}, {2, 1}, {0, 1}, {1, 1}},
           {"depthwise", 2, 16, 16, 16, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
           {"1d", 2, 3, 5, 1, {11}, {4}, {3}, {2}, {2}, {1}},
           {"within padding", 1, 2, 3, 1, {3, 2}, {5, 4}, {1, 3}, {1, 1}, {4, 3}, {4, 3}},
           {"3d", 1, 2, 3, 1, {4, 5, 6}, {2, 3, 2}, {1, 2, 2}, {1, 1, 2}, {1, 0, 1}, {0, 1, 1}}}) {
    INFO(spec.name << ", kind " << kind << ", layout " << layout);
    accc_library_call call = convolution(kind, layout, spec);
    const accc_convolution &c = call.u.convolution;
    int64_t x = sizeOfX(c), w = sizeOfW(c), y = sizeOfY(c);
    check(call, kind == ACCC_CALL_CONVOLUTION                 ? std::array{x, w, y}
                : kind == ACCC_CALL_CONVOLUTION_BACKWARD_DATA ? std::array{y, w, x}
                                                              : std::array{x, y, w});
  }
}

TEST_CASE("half floats: every one to f32 and back, and rounding") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    float value = detail::fromHalf(half);
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, int(exponent) - 25);
    if (exponent == 31) {
      CHECK((fraction ? std::isnan(value) : std::isinf(value)));
      CHECK((fraction ? (detail::toHalf(value) & 0x7fff) > 0x7c00 : detail::toHalf(value) == half));
    } else if (std::abs(value) != magnitude || std::signbit(value) != (bits >> 15) ||
               detail::toHalf(value) != half) {
      FAIL_CHECK("f16 " << bits << " is " << value);
    }
    float brain = detail::fromBrainFloat(half);
    if (!std::isnan(brain) && detail::toBrainFloat(brain) != half)
      FAIL_CHECK("bf16 " << bits << " is " << brain);
  }
  // Half way goes to even, the next float beyond it does not; what is too large is infinite.
  CHECK(detail::toHalf(1 + 0x1p-11f) == 0x3c00);
  CHECK(detail::toHalf(1 + 3 * 0x1p-11f) == 0x3c02);
  CHECK(detail::toHalf(std::nextafter(1 + 0x1p-11f, 2.0f)) == 0x3c01);
  CHECK(detail::toHalf(0x1p-25f) == 0);
  CHECK(detail::toHalf(3 * 0x1p-25f) == 2);
  CHECK(detail::toHalf(-65519.0f) == 0xfbff);
  CHECK(detail::toHalf(-65520.0f) == 0xfc00);
  CHECK(detail::toBrainFloat(1 + 0x1p-8f) == 0x3f80);
  CHECK(detail::toBrainFloat(1 + 3 * 0x1p-8f) == 0x3f82);
  CHECK(detail::toBrainFloat(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(std::isnan(detail::fromBrainFloat(detail::toBrainFloat(NAN))));
}

TEST_CASE("tensors as other float types") {
  Tensor x = Tensor::of<float>({2, 2}, {1.0f, -0.1f, 65519.0f, 1e-7f});
  for (DType type : {DType::f16, DType::bf16, DType::f64}) {
    Tensor narrow = x.to(type);
    CHECK(narrow.dtype() == type);
    CHECK(narrow.shape() == x.shape());
    Tensor back = narrow.to(DType::f32);
    double bound = type == DType::f16 ? 0x1p-11 : type == DType::bf16 ? 0x1p-8 : 0;
    for (int i = 0; i < 4; ++i) {
      double a = x.data<float>()[i], b = back.data<float>()[i];
      CHECK(std::abs(a - b) <= std::abs(a) * bound + (type == DType::f16 ? 0x1p-25 : 0));
    }
    CHECK(narrow.to(type).raw() == narrow.raw());
  }
  CHECK(Tensor::of<int64_t>({}, {-3}).to(DType::f16).to(DType::f32).item<float>() == -3);
  CHECK(Tensor::of<bool>({}, {true}).to(DType::f64).item<double>() == 1);
  CHECK_THROWS_WITH(x.to(DType::i32), Catch::Matchers::Contains("cannot be converted to i32"));
}
