// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CallReference.h"
#include "Calls.h"
#include "Support.h"
#include "cpu/OneDnn.h"

#include <cmath>

using namespace accc;
using namespace accc::test;

namespace {

void check(const accc_library_call &call, size_t a, size_t b, size_t c) {
  REQUIRE_FALSE(detail::whyCpuCannot(call));
  auto fillA = randomFloats(a, 1), fillB = randomFloats(b, 2), fillC = randomFloats(c, 3);
  std::vector<double> right = expectedMatmul(call.u.matmul, fillA, fillB, fillC);
  for (int threads : {1, 2, 3}) {
    PreparedCall prepared(call, threads, {fillA, fillB, fillC});
    prepared.run();
    double worst = 0;
    for (size_t i = 0; i < c; ++i) {
      double error = std::abs(prepared.buffer(2)[i] - right[i]);
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
    INFO("threads " << threads);
    CHECK(worst < 1e-6 * double(std::max<int64_t>(call.u.matmul.k, 8)));
  }
}

void checkDense(accc_library_call call) {
  const accc_matmul &p = call.u.matmul;
  check(call, size_t(p.batch[0] * p.m * p.k), size_t(p.batch[0] * p.k * p.n),
        size_t(p.batch[0] * p.m * p.n));
}

} // namespace

TEST_CASE("matmul: every layout of every operand") {
  auto flags = GENERATE(range(0, 16));
  auto [batch, m, n, k] =
      GENERATE(from_range(matmulExtents), values<MatmulExtents>({{1, 130, 140, 150},
                                                                 {1, 1536, 8, 1024},
                                                                 {40, 3, 1, 3},
                                                                 {33, 1, 7, 5},
                                                                 {17, 4, 4, 4},
                                                                 {20, 8, 8, 8}}));
  INFO("flags " << flags << ", " << batch << " x " << m << " x " << n << " x " << k);
  accc_library_call call = matmul(batch, m, n, k, flags & 1, flags & 2, flags & 4);
  call.u.matmul.accumulate = (flags & 8) != 0;
  checkDense(call);
}

TEST_CASE("matmul: empty extents") {
  auto accumulate = GENERATE(0, 1);
  auto [batch, m, n, k] = GENERATE(from_range(emptyMatmulExtents));
  accc_library_call call = matmul(batch, m, n, k);
  call.u.matmul.accumulate = accumulate;
  checkDense(call);
}

TEST_CASE("matmul: no batch dimension, and several with gaps") {
  accc_library_call call = matmul(1, 6, 5, 4);
  call.u.matmul.batch_rank = 0;
  checkDense(call);

  check(attentionMatmul(), 120, 120, 72);
}

TEST_CASE("matmul: factors that lie behind others in their buffers") {
  auto hasBias = GENERATE(false, true);
  accc_library_call call = attentionMatmul();
  call.epilogue = hasBias ? ACCC_EPILOGUE_BIAS : ACCC_EPILOGUE_NONE;
  call.u.matmul.a_offset = 7, call.u.matmul.b_offset = 20;
  REQUIRE_FALSE(detail::whyCpuCannot(call));
  auto a = randomFloats(127, 1), b = randomFloats(140, 2), bias = randomFloats(3, 3);
  std::vector<float> c(72);
  std::vector<double> right =
      expectedMatmul(call.u.matmul, a, b, c, hasBias ? bias : std::vector<float>());
  detail::Team team(2);
  detail::Team::Scope scope(team);
  auto made = detail::createLibraryCall(call, team);
  std::vector<char *> buffers;
  for (std::vector<float> *each : {&a, &b, &bias, &c})
    if (each != &bias || hasBias)
      buffers.push_back(reinterpret_cast<char *>(each->data()));
  std::vector<char> scratch(made->scratchBytes() + 1);
  made->run(buffers.data(), scratch.data());
  for (size_t i = 0; i < c.size(); ++i)
    CHECK(c[i] == Approx(right[i]).margin(1e-6));
  call.u.matmul.b_offset = -1;
  CHECK(detail::whyCpuCannot(call) == "matmul: an offset is negative");
}

TEST_CASE("matmul: a batch that is more rows or columns of one product") {
  auto leftStands = GENERATE(false, true);
  accc_library_call call = matmul(3, 4, 5, 6);
  accc_matmul &p = call.u.matmul;
  if (leftStands) {
    p.a_batch_strides[0] = 0;
    p.b_row_stride = 15, p.b_batch_strides[0] = 5; // b is [6, 3 * 5]
    p.c_row_stride = 15, p.c_batch_strides[0] = 5;
  } else {
    p.b_batch_strides[0] = 0; // x [3, 4, 6] times one [6, 5]
  }
  check(call, 72, 90, 60);
}

TEST_CASE("matmul: a right operand in panels") {
  // Five of them; 32 and 512 rows as the library knows them, 24 as it does not.
  auto width = GENERATE(int64_t(64), int64_t(48), int64_t(32), int64_t(16), int64_t(20));
  auto k = GENERATE(int64_t(32), int64_t(512), int64_t(24));
  auto accumulate = GENERATE(0, 1);
  auto aTransposed = GENERATE(false, true);
  INFO("width " << width << ", k " << k);
  const int64_t panels = 5, m = 18;
  accc_library_call call = matmul(panels, m, width, k, aTransposed);
  accc_matmul &p = call.u.matmul;
  p.accumulate = accumulate;
  p.a_batch_strides[0] = 0;
  p.c_row_stride = panels * width, p.c_batch_strides[0] = width;
  check(call, size_t(m * k), size_t(panels * k * width), size_t(panels * m * width));
}

TEST_CASE("matmul: strides that no BLAS has words for") {
  accc_library_call call = matmul(1, 4, 5, 6);
  accc_matmul &p = call.u.matmul;
  SECTION("one row broadcast") { p.a_row_stride = 0; }
  SECTION("one column broadcast") { p.b_column_stride = 0, p.b_row_stride = 1; }
  SECTION("gaps both ways") { p.a_row_stride = 24, p.a_column_stride = 2; }
  check(call, 200, 200, 20);
}

TEST_CASE("matmul: small ones by one thread, large ones by all, with the same result") {
  detail::Team team(2);
  auto size = GENERATE(int64_t(8), int64_t(160)); // 2 * 160^3 is above what is worth sharing
  accc_library_call call = matmul(1, size, size, size);
  auto count = static_cast<size_t>(size * size);
  auto a = randomFloats(count, 1), b = randomFloats(count, 2);
  std::vector<float> c(count);
  std::vector<double> right = expectedMatmul(call.u.matmul, a, b, c);
  detail::Team::Scope scope(team);
  auto made = detail::createLibraryCall(call, team);
  char *buffers[] = {reinterpret_cast<char *>(a.data()), reinterpret_cast<char *>(b.data()),
                     reinterpret_cast<char *>(c.data())};
  std::vector<char> scratch(made->scratchBytes() + 1);
  made->run(buffers, scratch.data());
  for (size_t i = 0; i < count; ++i)
    REQUIRE(c[i] == Approx(right[i]).margin(1e-4));
}

TEST_CASE("library calls: f32 is not rounded, whatever oneDNN's environment lets it do") {
  REQUIRE(dnnl_set_default_fpmath_mode(dnnl_fpmath_mode_any) == dnnl_success);
  CHECK(detail::userScratchpad().get_fpmath_mode() == dnnl::fpmath_mode::strict);
  dnnl_set_default_fpmath_mode(dnnl_fpmath_mode_strict);
}
