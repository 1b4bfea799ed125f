// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels as compilers write them, against the host (inputs/README.md says how they were made).
#include "Device.h"

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
