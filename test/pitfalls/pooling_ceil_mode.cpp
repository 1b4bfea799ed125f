// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling with sizes rounded up: windows that begin outside of the input, averages that divide by
// elements which are not there, gradients of the wrong ones.
#include "Adjoint.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace accc;
using namespace accc::test;

namespace {
/// A pooling of one dimension and what it must see: windows [first, last), without padding.
struct Geometry {
  int64_t extent, kernel, stride, low, high;
  bool ceil;

  /// As PyTorch: rounded up, but the last window begins in the input or in the padding before it.
  int64_t outputs() const {
    int64_t span = extent + low + high - kernel, count = span / stride + 1;
    if (ceil && span % stride != 0 && count * stride < extent + low)
      ++count;
    return count;
  }
};

std::vector<Geometry> geometries() {
  std::vector<Geometry> all;
  for (int64_t extent : {6, 7})
    for (int64_t kernel : {2, 3})
      for (int64_t stride : {2, 3})
        for (auto [low, high] : {std::pair<int64_t, int64_t>{0, 0}, {1, 1}, {0, 1}, {1, 0}})
          for (bool ceil : {false, true})
            if (low < kernel && high < kernel)
              all.push_back({extent, kernel, stride, low, high, ceil});
  return all;
}

std::string attributes(const Geometry &g) {
  auto number = [](int64_t value) { return std::to_string(value); };
  return "kernel_shape = [" + number(g.kernel) + "], strides = [" + number(g.stride) +
         "], pads = [" + number(g.low) + "," + number(g.high) +
         "], ceil_mode = " + (g.ceil ? "1" : "0");
}

/// The average that PyTorch gives, and the weight of each element in it.
double averageOf(const Geometry &g, const ReferenceArray &x, int64_t output, bool countsPadding) {
  int64_t first = output * g.stride - g.low;
  int64_t paddedEnd = std::min(first + g.kernel, g.extent + g.high);
  int64_t begin = std::max<int64_t>(first, 0), end = std::min(first + g.kernel, g.extent);
  double sum = 0;
  for (int64_t i = begin; i < end; ++i)
    sum += x.values[i];
  return sum / static_cast<double>(countsPadding ? paddedEnd - first : end - begin);
}
} // namespace

TEST_CASE("pooling_ceil_mode: averages divide by what their windows hold") {
  for (int64_t extent : {6, 7})
    for (bool countsPadding : {false, true}) {
      INFO("extent " << extent << ", padding counts: " << countsPadding);
      std::vector<LinearPart> parts;
      std::vector<Geometry> chosen;
      std::string body, results;
      for (const Geometry &g : geometries()) {
        if (g.extent != extent)
          continue;
        std::string y = "y" + std::to_string(chosen.size());
        body += y + " = AveragePool <" + attributes(g) +
                ", count_include_pad = " + (countsPadding ? "1" : "0") + "> (x) ";
        results +=
            (chosen.empty() ? "" : ", ") + ("float[1,1," + std::to_string(g.outputs())) + "] " + y;
        parts.push_back({"$y = AveragePool <" + attributes(g) +
                             ", count_include_pad = " + (countsPadding ? "1" : "0") + "> (x)",
                         {1, 1, g.outputs()}});
        chosen.push_back(g);
      }
      const ReferenceArray x = spread({1, 1, extent}, 1, 2);
      Training training = trainAsInterpreted(
          {"g (float[1,1," + std::to_string(extent) + "] x) => (" + results + ") { " + body + "}",
           {{"x", x}},
           {},
           {},
           {},
           19});
      for (size_t i = 0; i < chosen.size(); ++i) {
        INFO(attributes(chosen[i]));
        std::vector<double> expected;
        for (int64_t o = 0; o < chosen[i].outputs(); ++o)
          expected.push_back(averageOf(chosen[i], x, o, countsPadding));
        checkNear(training.output("y" + std::to_string(i)), expected, 1e-6);
      }
      checkAdjoint({1, 1, extent}, parts, 19);
    }
}

TEST_CASE("pooling_ceil_mode: maxima never see padding, and each gradient reaches an element") {
  for (int64_t extent : {6, 7}) {
    INFO("extent " << extent);
    std::string body, results;
    std::vector<Geometry> chosen;
    int64_t outputs = 0;
    Values cotangents;
    for (const Geometry &g : geometries()) {
      if (g.extent != extent)
        continue;
      std::string y = "y" + std::to_string(chosen.size());
      body += y + " = MaxPool <" + attributes(g) + "> (x) ";
      results +=
          (chosen.empty() ? "" : ", ") + ("float[1,1," + std::to_string(g.outputs())) + "] " + y;
      cotangents[y] = filled({1, 1, g.outputs()}, 1);
      outputs += g.outputs();
      chosen.push_back(g);
    }
    // All negative: a maximum over zeros of the padding would be zero.
    const ReferenceArray x = spread({1, 1, extent}, -2, -1);
    Training training = trainAsInterpreted(
        {"g (float[1,1," + std::to_string(extent) + "] x) => (" + results + ") { " + body + "}",
         {{"x", x}},
         {},
         cotangents});
    double sum = 0;
    for (double value : training.gradient("x").values)
      sum += value;
    CHECK(sum == Approx(static_cast<double>(outputs)));
    for (size_t i = 0; i < chosen.size(); ++i) {
      const Geometry &g = chosen[i];
      INFO(attributes(g));
      std::vector<double> expected;
      for (int64_t o = 0; o < g.outputs(); ++o) {
        double most = -std::numeric_limits<double>::infinity();
        for (int64_t k = 0; k < g.kernel; ++k)
          if (int64_t at = o * g.stride - g.low + k; at >= 0 && at < g.extent)
            most = std::max(most, x.values[at]);
        expected.push_back(most);
      }
      checkEqual(training.output("y" + std::to_string(i)), expected);
    }
  }
}

TEST_CASE("pooling_ceil_mode: planes, dilated windows and powers") {
  checkAdjoint({2, 3, 7, 8},
               {{"$y = AveragePool <kernel_shape = [3,2], strides = [2,3], pads = [1,0,1,1], "
                 "ceil_mode = 1> (x)",
                 {2, 3, 4, 3}},
                {"$y = AveragePool <kernel_shape = [3,2], strides = [2,3], pads = [1,0,1,1], "
                 "ceil_mode = 1, count_include_pad = 1> (x)",
                 {2, 3, 4, 3}},
                {"$y = AveragePool <kernel_shape = [2,2], dilations = [2,3], strides = [2,2], "
                 "ceil_mode = 1> (x)",
                 {2, 3, 3, 3}}},
               19);
}
