// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How fast the machine is right now: fp32 fused multiply-adds and memory bandwidth, as JSON.
//
//   probe [SECONDS]     SECONDS for each of the two, 0.5 by default; OMP_NUM_THREADS threads
//
// A shared machine has faster and slower hours, and memory may be fast in one run and slow in the
// next. Two measurements are comparable only if their probes agree.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <omp.h>

using Clock = std::chrono::steady_clock;
using Vector = float __attribute__((vector_size(64)));

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static volatile float sink; // what is computed must be used

/// GFLOP/s of independent multiply-adds in registers; the best of several tries.
static double multiplyAdds(double seconds) {
  constexpr int chains = 12, repetitions = 200000;
  double best = 0;
  for (auto start = Clock::now(); secondsSince(start) < seconds;) {
    auto begin = Clock::now();
#pragma omp parallel
    {
      Vector sums[chains], factor, offset, total = {};
      for (int lane = 0; lane < 16; ++lane)
        factor[lane] = 0.999f, offset[lane] = 0.001f * static_cast<float>(lane);
      for (int chain = 0; chain < chains; ++chain) // different, or one would stand for all
        sums[chain] = offset * static_cast<float>(chain);
      for (int i = 0; i < repetitions; ++i) {
#pragma GCC unroll 12
        for (int chain = 0; chain < chains; ++chain)
          sums[chain] = sums[chain] * factor + offset;
      }
      for (const Vector &sum : sums)
        total += sum;
#pragma omp critical
      sink = sink + total[0];
    }
    double flops = 2.0 * 16 * chains * repetitions * omp_get_max_threads();
    best = std::max(best, flops / secondsSince(begin) / 1e9);
  }
  return best;
}

/// GB/s of a[i] = b[i] + s * c[i] over arrays far larger than the caches, counting three arrays;
/// the best of several tries.
static double triad(double seconds) {
  constexpr long size = 1L << 25; // 128 MiB each
  std::unique_ptr<float[]> a(new float[size]), b(new float[size]), c(new float[size]);
#pragma omp parallel for
  for (long i = 0; i < size; ++i)
    a[i] = 0, b[i] = static_cast<float>(i), c[i] = 1;
  double best = 0;
  for (auto start = Clock::now(); secondsSince(start) < seconds;) {
    auto begin = Clock::now();
#pragma omp parallel for simd
    for (long i = 0; i < size; ++i)
      a[i] = b[i] + 0.5f * c[i];
    best = std::max(best, 3.0 * sizeof(float) * size / secondsSince(begin) / 1e9);
  }
  return best;
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? std::atof(argv[1]) : 0.5;
  std::printf("{\"fma_gflops\": %.1f, \"triad_gbs\": %.1f}\n", multiplyAdds(seconds),
              triad(seconds));
  return 0;
}
