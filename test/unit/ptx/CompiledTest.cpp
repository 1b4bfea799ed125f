// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels as compilers write them, against the host (inputs/README.md says how they were made).
#include "Device.h"
#include "reference/ptx/Numbers.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

using namespace accc::ptx;
using namespace accc::ptx::test;

namespace {

std::vector<float> wave(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = float(std::sin(double(i) * 0.7) * 3);
  return values;
}

std::vector<int> integers(size_t count, unsigned seed) {
  std::vector<int> values(count);
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    values[i] = int(seed >> (i % 31));
    values[i] = values[i] == 0 ? 1 : i % 3 ? values[i] : -values[i];
  }
  return values;
}

void checkClose(const std::vector<float> &results, size_t at, double expected, double tolerance) {
  INFO("element " << at << ": " << results[at] << " instead of " << expected);
  if (std::isnan(expected))
    CHECK(std::isnan(results[at]));
  else if (std::isinf(expected))
    CHECK(double(results[at]) == expected);
  else
    CHECK(std::fabs(results[at] - expected) <= tolerance * std::max(1e-3, std::fabs(expected)));
}

} // namespace

TEST_CASE("a reduction with shuffles and shared memory") {
  for (const char *file : {"cuda.ptx", "cuda-fast.ptx"}) {
    Device device(input(file));
    std::vector<float> values = wave(10000);
    uint64_t in = device.upload(values), out = device.allocate(8 * 4);
    int n = int(values.size());
    Counts counts = device.runWith("reduce", {8}, {128}, {&in, &out, &n});
    std::vector<float> sums = device.download<float>(out, 8);
    double expected = std::accumulate(values.begin(), values.end(), 0.0);
    CHECK(std::accumulate(sums.begin(), sums.end(), 0.0) == Approx(expected).epsilon(1e-4));
    CHECK(counts.globalReadBytes == 40000);
    CHECK(counts.globalReadSectors == 1250);
    CHECK(counts.barriers == 8);
    CHECK(counts.sharedExtraWavefronts == 0);
  }
}

TEST_CASE("a transpose by tiles, with blocks in any order") {
  Device device(input("cuda.ptx"));
  int rows = 70, columns = 45;
  std::vector<float> values = wave(size_t(rows * columns));
  uint64_t in = device.upload(values), out = device.allocate(values.size() * 4);
  LaunchOptions options;
  options.orderSeed = 3;
  Counts counts =
      device.runWith("transpose", {2, 3}, {32, 8}, {&in, &out, &rows, &columns}, 0, options);
  std::vector<float> results = device.download<float>(out, values.size());
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      REQUIRE(results[size_t(j * rows + i)] == values[size_t(i * columns + j)]);
  CHECK(counts.sharedExtraWavefronts == 0); // the tile's rows have 33 words
}

TEST_CASE("a softmax in dynamic shared memory") {
  for (const char *file : {"cuda.ptx", "cuda-fast.ptx"}) {
    Device device(input(file));
    int columns = 150;
    std::vector<float> values = wave(3 * 150);
    uint64_t in = device.upload(values), out = device.allocate(values.size() * 4);
    device.runWith("softmax", {3}, {64}, {&in, &out, &columns}, uint32_t(columns * 4));
    std::vector<float> results = device.download<float>(out, values.size());
    for (int row = 0; row < 3; ++row) {
      double sum = 0;
      for (int i = 0; i < columns; ++i)
        sum += std::exp(double(values[size_t(row * columns + i)]));
      for (int i = 0; i < columns; ++i)
        checkClose(results, size_t(row * columns + i),
                   std::exp(double(values[size_t(row * columns + i)])) / sum, 1e-5);
    }
  }
}

TEST_CASE("libdevice's functions of f32 and f64") {
  Device device(input("cuda.ptx"));
  std::vector<float> values = wave(500);
  values.insert(values.end(), {0.0f, -0.0f, 1e-40f, 88.8f, -104.0f, 1e5f, 3e38f, 1e-30f});
  int n = int(values.size());
  uint64_t in = device.upload(values), out = device.allocate(values.size() * 14 * 4);
  device.runWith("elementary", {16}, {32}, {&in, &out, &n});
  std::vector<float> results = device.download<float>(out, values.size() * 14);
  double (*functions[])(double) = {
      [](double x) { return std::exp(x); },
      [](double x) { return std::log(std::fabs(x)); },
      [](double x) { return std::sin(x); },
      [](double x) { return std::tanh(x); },
      [](double x) { return std::erf(x); },
      [](double x) { return std::pow(std::fabs(x), 1.5); },
      [](double x) { return 1 / std::sqrt(std::fabs(x)); },
      [](double x) { return std::cbrt(x); },
      [](double x) { return std::log1p(std::fabs(x)); },
      [](double x) { return std::atan2(x, 2); },
      [](double x) { return std::sqrt(std::fabs(x)); },
      [](double x) { return 1 / x; },
      [](double x) { return double(std::fmod(float(x), 0.7f)); },
      [](double x) { return std::floor(x) + std::trunc(x) + std::rint(x) + std::round(x); }};
  for (size_t f = 0; f < 14; ++f)
    for (size_t i = 0; i < values.size(); ++i) {
      INFO("function " << f << " of " << values[i]);
      checkClose(results, f * values.size() + i, double(float(functions[f](values[i]))), 5e-7);
    }

  std::vector<double> doubles(values.begin(), values.begin() + 500);
  n = 500;
  in = device.upload(doubles), out = device.allocate(500 * 10 * 8);
  device.runWith("doubles", {5}, {128}, {&in, &out, &n});
  std::vector<double> wide = device.download<double>(out, 5000);
  double (*wideFunctions[])(double) = {[](double x) { return std::exp(x); },
                                       [](double x) { return std::log(std::fabs(x)); },
                                       [](double x) { return std::sin(x); },
                                       [](double x) { return x / 3.7; },
                                       [](double x) { return std::sqrt(std::fabs(x)); },
                                       [](double x) { return std::tanh(x); },
                                       [](double x) { return std::erf(x); },
                                       [](double x) { return std::pow(std::fabs(x), 2.5); },
                                       [](double x) { return std::trunc(x); },
                                       [](double x) { return double(float(x)); }};
  for (size_t f = 0; f < 10; ++f)
    for (size_t i = 0; i < 500; ++i) {
      INFO("function " << f << " of " << doubles[i] << " is " << wide[f * 500 + i]);
      double expected = wideFunctions[f](doubles[i]);
      CHECK((wide[f * 500 + i] == expected ||
             std::fabs(wide[f * 500 + i] - expected) <= 1e-14 * std::fabs(expected)));
    }
}

TEST_CASE("integer division and bit tricks") {
  Device device(input("cuda.ptx"));
  std::vector<int> a = integers(300, 1), b = integers(300, 2);
  int n = 300;
  uint64_t pa = device.upload(a), pb = device.upload(b), out = device.allocate(300 * 14 * 4);
  device.runWith("integers", {3}, {128}, {&pa, &pb, &out, &n});
  std::vector<int> results = device.download<int>(out, 300 * 14);
  for (size_t i = 0; i < 300; ++i) {
    int x = a[i], y = b[i];
    unsigned ux = unsigned(x), uy = unsigned(y), reversed = 0;
    for (unsigned bit = 0; bit < 32; ++bit)
      reversed |= (ux >> bit & 1) << (31 - bit);
    auto byte = [&](unsigned k) { return unsigned((uint64_t(uy) << 32 | ux) >> (8 * k) & 255); };
    signed char c = (signed char)(y);
    int expected[] = {x / y,
                      x % y,
                      int(ux / uy),
                      int((long long)(x) * 1000003 / y),
                      std::popcount(ux) + std::countl_zero(uy),
                      int(reversed),
                      y ? std::countr_zero(uy) + 1 : 0,
                      int((long long)(x)*y >> 32),
                      int(uy << 7 | ux >> 25),
                      int(byte(4) | byte(1) << 8 | byte(2) << 16 | byte(5) << 24),
                      x / 7,
                      x % 48,
                      int(((unsigned long long)(x) << 20 | uy) % 1000007ull),
                      short(x) / (c ? c : 1)};
    for (size_t f = 0; f < 14; ++f) {
      INFO("function " << f << " of " << x << ", " << y);
      CHECK(results[f * 300 + i] == expected[f]);
    }
  }
}

TEST_CASE("switches, calls, local arrays, constants and copies") {
  Device device(input("cuda.ptx"));
  int n = 70;
  std::vector<int> which(70);
  for (int i = 0; i < 70; ++i)
    which[size_t(i)] = i * 5 % 11;
  uint64_t in = device.upload(which), out = device.allocate(70 * 4);
  device.runWith("choose", {1}, {96}, {&in, &out, &n});
  std::vector<int> chosen = device.download<int>(out, 70);
  for (int i = 0; i < 70; ++i) {
    int cases[] = {17 * i, i ^ 91, i / 3, i << 3, which[size_t(69 - i)], i * i, -i, i % 5};
    CHECK(chosen[size_t(i)] == (which[size_t(i)] < 8 ? cases[which[size_t(i)]] : -1));
  }

  std::vector<float> values = wave(70);
  in = device.upload(values);
  device.runWith("calls", {1}, {96}, {&in, &out, &n});
  auto poly = [](float x, int d) {
    float r = 1;
    for (int i = 0; i < d; ++i)
      r = std::fma(r, x, float(i));
    return r;
  };
  std::vector<float> called = device.download<float>(out, 70);
  for (int i = 0; i < 70; ++i) {
    float x = values[size_t(i)];
    CHECK(called[size_t(i)] == (i & 1 ? poly(poly(x, 3), i % 7) : poly(poly(x, 5), 2)));
  }

  std::vector<int> index = integers(48, 5);
  in = device.upload(index);
  device.runWith("local_array", {1}, {32}, {&in, &out});
  std::vector<float> summed = device.download<float>(out, 32);
  for (int t = 0; t < 32; ++t) {
    float v[16], s = 0;
    for (int i = 0; i < 16; ++i)
      v[i] = float(i) * 1.5f + float(index[size_t(i)]);
    for (int i = 0; i < 8; ++i) {
      int k = index[size_t(t + i)] & 15;
      s += v[k];
      v[k] = s;
    }
    CHECK(summed[size_t(t)] == Approx(s).epsilon(1e-5));
  }

  struct {
    int a = 3;
    float b[3] = {0.5f, 0.25f, 0.125f};
    double c = 100;
  } record;
  device.runWith("constants", {1}, {32}, {&record, &out});
  const float table[] = {1, 2, 3, 4.5f, 5, 6, 7, 8};
  std::vector<float> looked = device.download<float>(out, 32);
  for (int t = 0; t < 32; ++t)
    CHECK(looked[size_t(t)] == table[t & 7] + record.b[t % 3] + 3 + 100 + 3 + 2);
  CHECK(device.module.variable("counter")->bytes == 4);
  CHECK(device.module.variable("table")->constant);

  std::vector<float> quads = wave(256);
  in = device.upload(quads), out = device.allocate(1024);
  device.runWith("copy_async", {1}, {64}, {&in, &out});
  std::vector<float> copied = device.download<float>(out, 256);
  for (size_t i = 0; i < 256; ++i)
    CHECK(copied[i] == quads[(63 - i / 4) * 4 + i % 4]);
}

TEST_CASE("votes, matches and atomic operations") {
  Device device(input("cuda.ptx"));
  std::vector<int> values(64);
  for (int i = 0; i < 64; ++i)
    values[size_t(i)] = i * 7 % 23;
  uint64_t in = device.upload(values), out = device.allocate(256);
  uint64_t sum = device.upload(std::vector<float>{0.5f}),
           words = device.upload(std::vector<uint32_t>(4, 0));
  device.runWith("votes", {1}, {64}, {&in, &out, &sum, &words});
  std::vector<uint32_t> results = device.download<uint32_t>(out, 64);
  unsigned odd = 0;
  for (int value : values)
    odd += value & 1;
  for (size_t i = 0; i < 64; ++i) {
    unsigned ballot = 0, same = 0, total = 0;
    bool any = false, all = true;
    for (size_t lane = 0; lane < 32; ++lane) {
      int value = values[i / 32 * 32 + lane];
      ballot |= unsigned(value > 3) << lane;
      same |= unsigned(value == values[i]) << lane;
      total += unsigned(value);
      any |= value > 100;
      all &= value < 50;
    }
    CHECK(results[i] == ballot + any + all + total + 32 + odd + same);
  }
  CHECK(device.download<float>(sum, 1)[0] == 64.5f);
  std::vector<uint32_t> counters = device.download<uint32_t>(words, 4);
  CHECK(counters[0] == 22);
  CHECK(counters[1] == 5);
  CHECK(counters[3] == 0); // 64 steps modulo 8
}

TEST_CASE("the last block's sum, with its fences") {
  Device device(input("cuda.ptx"));
  std::vector<float> values(1000, 0.25f);
  int n = 1000;
  uint64_t in = device.upload(values), parts = device.allocate(16 * 4), out = device.allocate(4);
  LaunchOptions options;
  options.orderSeed = 11;
  device.runWith("last_block", {16}, {64}, {&in, &parts, &out, &n}, 0, options);
  CHECK(device.download<float>(out, 1)[0] == 250);
}

TEST_CASE("f16 and bf16 of CUDA") {
  Device device(input("cuda.ptx"));
  std::vector<uint16_t> a(40), b(40);
  for (unsigned i = 0; i < 40; ++i) {
    a[i] = toBFloat(std::sin(i) * 4);
    b[i] = toHalf(std::cos(i));
  }
  int n = 40;
  uint64_t pa = device.upload(a), pb = device.upload(b), out = device.allocate(480),
           pairs = device.allocate(160);
  device.runWith("halves", {1}, {64}, {&pa, &pb, &out, &pairs, &n});
  std::vector<float> results = device.download<float>(out, 120);
  std::vector<uint32_t> packed = device.download<uint32_t>(pairs, 40);
  for (unsigned i = 0; i < 40; ++i) {
    float x = fromBFloat(a[i]), y = fromHalf(b[i]);
    CHECK(results[i] == x * y);
    CHECK(results[40 + i] == fromHalf(toHalf(y + y)) + fromHalf(toHalf(double(y) * y + y)));
    CHECK(results[80 + i] == (y < 0.5f ? 1 : 2));
    CHECK(packed[i] ==
          (uint32_t(toBFloat(double(x) * 1.5 - 2)) << 16 | toBFloat(double(x) * 1.5 + 1)));
  }
}

TEST_CASE("kernels of LLVM's NVPTX") {
  Device device(input("llvm.ptx"));
  std::vector<float> x = wave(512), y = wave(512);
  std::reverse(y.begin(), y.end());
  uint64_t px = device.upload(x), py = device.upload(y);
  float a = 1.25f;
  Counts counts = device.runWith("axpy", {2}, {64}, {&px, &py, &a});
  CHECK(counts.globalReadSectors == 128);
  CHECK(counts.globalWriteSectors == 64);
  std::vector<float> results = device.download<float>(py, 512);
  for (size_t i = 0; i < 512; ++i)
    CHECK(results[i] == std::fma(a, x[i], y[i]));

  int n = 100;
  device.runWith("rowsum", {5}, {64}, {&px, &py, &n});
  results = device.download<float>(py, 5);
  for (size_t row = 0; row < 5; ++row)
    CHECK(results[row] == Approx(std::accumulate(x.begin() + long(row) * 100,
                                                 x.begin() + long(row) * 100 + 100, 0.0))
                              .margin(1e-4));

  std::vector<uint16_t> h(256), g(256);
  for (unsigned i = 0; i < 256; ++i) {
    h[i] = toBFloat(std::sin(i));
    g[i] = toBFloat(std::cos(i) * 2);
  }
  uint64_t ph = device.upload(h), pg = device.upload(g), pz = device.allocate(512);
  device.runWith("halves", {1}, {32}, {&ph, &pg, &pz});
  std::vector<uint16_t> z = device.download<uint16_t>(pz, 256);
  for (unsigned i = 0; i < 256; ++i) {
    float u = fromBFloat(h[i]), v = fromBFloat(g[i]);
    CHECK(z[i] == toBFloat(fmaToOdd(u, v, fromBFloat(toBFloat(u * v + u)))));
  }

  std::vector<int> keys(64);
  for (int i = 0; i < 64; ++i)
    keys[size_t(i)] = i % 8 - 1;
  uint64_t pk = device.upload(keys), out = device.allocate(256);
  device.runWith("control", {1}, {64}, {&pk, &out});
  results = device.download<float>(out, 64);
  for (int i = 0; i < 64; ++i) {
    auto poly = [](float value, unsigned count) {
      float r = 1;
      unsigned k = 0;
      do
        r = std::fma(r, value, float(k));
      while (++k < count);
      return r;
    };
    float cases[] = {-1, poly(0, 3), 2, poly(2, unsigned(i)), 5, 8, 55, -1};
    CHECK(results[size_t(i)] == cases[i % 8]);
  }

  std::vector<int> numbers = integers(64, 9);
  uint64_t pn = device.upload(numbers);
  device.runWith("mixed", {1}, {64}, {&pn, &out});
  std::vector<int> mixed = device.download<int>(out, 64);
  for (unsigned i = 0; i < 64; ++i) {
    uint32_t in = uint32_t(numbers[i]), b = in << 5 | i >> 27, d = 0;
    for (unsigned bit = 0; bit < 32; ++bit)
      d |= (b >> bit & 1) << ((31 - bit) / 8 * 8 < 32 ? (24 - (31 - bit) / 8 * 8) + (31 - bit) % 8
                                                      : 0);
    int h2 = std::max(std::popcount(d), std::countl_zero(uint64_t(d)));
    int64_t sum = std::min<int64_t>(int64_t(int32_t(d)) + h2, INT32_MAX);
    CHECK(mixed[i] == int8_t(uint32_t(int(sum) / 7) * in) % 48);
  }
  uint32_t steps = 0;
  REQUIRE(!device.memory.read(&steps, device.module.variable("steps")->address, 4));
  CHECK(steps == 5 + 64);

  std::vector<float> reals = wave(64);
  reals[5] = NAN, reals[6] = 1e-40f, reals[7] = -1e-40f, reals[8] = INFINITY;
  uint64_t pr = device.upload(reals);
  device.runWith("floats", {1}, {64}, {&pr, &out});
  results = device.download<float>(out, 64);
  for (size_t i = 0; i < 64; ++i) {
    float value = flush(reals[i]), e2 = float(std::exp2(double(reals[i]))); // ex2 without .ftz
    float b = std::fmax(e2, value), c = b != b ? NAN : std::max(b, 0.5f), d = std::sqrt(c);
    float f = std::nearbyint(std::copysign(d, reals[i])), g = flush(f / c);
    float h3 = !(g >= 3) ? g : reals[i];
    int j = h3 != h3 ? 0 : int(h3);
    checkClose(results, i, double(flush(h3)) - j, 1e-6);
  }
}
