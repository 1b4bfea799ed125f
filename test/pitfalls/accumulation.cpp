// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums that lose their terms: in 16-bit floats a sum of ones stays at 256 or 2048 (see also the
// kernels' tests, "sums of 16-bit floats accumulate in f32"); in f32 long sums, means, and
// variances beside large means.
#include "Trained.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

using namespace accc;
using namespace accc::test;

namespace {
/// Of "2,3" 2 and 3.
std::vector<int64_t> numbersOf(const std::string &text) {
  std::vector<int64_t> numbers;
  std::istringstream stream(text);
  for (std::string number; std::getline(stream, number, ',');)
    numbers.push_back(std::stoll(number));
  return numbers;
}
} // namespace

TEST_CASE("accumulation: long sums and means of one small number") {
  const double tenth = static_cast<double>(0.1f);
  for (int64_t count : {4096, 70001, 600001}) {
    INFO(count);
    std::string shape = "[" + std::to_string(count) + "]";
    Training training = train({"g (float" + shape +
                                   " x) => (float s, float m) { s = ReduceSum <keepdims = 0> (x) m "
                                   "= ReduceMean <keepdims = 0> (x) }",
                               {{"x", filled({count}, 0.1)}},
                               {},
                               {{"s", filled({}, 1)}, {"m", filled({}, 0)}}});
    checkNear(training.output("s"), {tenth * static_cast<double>(count)}, 3e-6);
    checkNear(training.output("m"), {tenth}, 3e-7);
    checkEqual(training.gradient("x"), std::vector<double>(count, 1));
  }
}

TEST_CASE("accumulation: sums over columns and in the backward pass of a broadcast") {
  const double tenth = static_cast<double>(0.1f);
  for (int64_t columns : {1, 3, 40}) {
    INFO(columns);
    std::string n = std::to_string(columns);
    Training training =
        train({"g (float[20000," + n + "] x, float[" + n + "] b) => (float[" + n +
                   "] y, float[20000," + n +
                   "] z) { a = Constant <value = int64[1] {0}> () "
                   "y = ReduceSum <keepdims = 0> (x, a) z = Add(x, b) }",
               {{"x", filled({20000, columns}, 0.1)}, {"b", filled({columns}, 0)}},
               {},
               {{"y", filled({columns}, 1)}, {"z", filled({20000, columns}, 0.1)}}});
    checkNear(training.output("y"), std::vector<double>(columns, 20000 * tenth), 3e-6);
    checkNear(training.gradient("b"), std::vector<double>(columns, 20000 * tenth), 3e-6);
  }
}

TEST_CASE("accumulation: sums over several dimensions, long and short ones") {
  // Channels first and last, of which the reduced dimensions are no row and no column alone.
  const double tenth = static_cast<double>(0.1f);
  for (auto [shape, axes] : {std::pair{"7000,2,3", "0,2"}, std::pair{"3,2,9001", "0,2"},
                             std::pair{"5000,2,2,3", "0,1,2"}, std::pair{"700,2,20,5", "0,2"},
                             std::pair{"2,20001,3", "1"}, std::pair{"33,33,33,2", "0,1,2"}}) {
    INFO("[" << shape << "] along " << axes);
    const std::vector<int64_t> extents = numbersOf(shape), reduced = numbersOf(axes);
    std::vector<int64_t> kept;
    double count = 1;
    for (size_t d = 0; d < extents.size(); ++d)
      if (std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(d)) == reduced.end())
        kept.push_back(extents[d]);
      else
        count *= static_cast<double>(extents[d]);
    std::string result;
    for (int64_t extent : kept)
      result += (result.empty() ? "" : ",") + std::to_string(extent);
    Training training =
        train({"g (float[" + std::string(shape) + "] x) => (float[" + result +
                   "] y) { a = Constant <value = int64[" + std::to_string(reduced.size()) + "] {" +
                   axes + "}> () y = ReduceSum <keepdims = 0> (x, a) }",
               {{"x", filled(extents, 0.1)}},
               {},
               {{"y", filled(kept, 1)}}});
    checkNear(training.output("y"),
              std::vector<double>(filled(kept, 0).values.size(), count * tenth), 3e-6);
  }
}

TEST_CASE("accumulation: a running sum has all digits to its end") {
  if (testsCuda())
    return; // f32 there, as PyTorch's
  const int64_t count = 20000;
  const double tenth = static_cast<double>(0.1f);
  std::vector<double> expected;
  for (int64_t i = 1; i <= count; ++i)
    expected.push_back(static_cast<double>(i) * tenth);
  Training training = train({"g (float[20000] x) => (float[20000] y) { a = Constant <value = int64 "
                             "{0}> () y = CumSum(x, a) }",
                             {{"x", filled({count}, 0.1)}},
                             {},
                             {{"y", filled({count}, 1)}}});
  checkNear(training.output("y"), expected, 1e-7);
}

TEST_CASE("accumulation: normalisations of numbers far from zero") {
  // The mean of squares less the square of the mean has no digit left here.
  ReferenceArray x = spread({6, 500});
  for (double &value : x.values)
    value = static_cast<double>(static_cast<float>(value + 1000));
  trainAsInterpreted(
      {"g (float[6,500] x, float[500] s, float[500] b) => (float[6,500] y) { y = "
       "LayerNormalization <axis = -1> (x, s, b) }",
       {{"x", x}, {"s", spread({500}, 0.5, 1.5, 2)}, {"b", spread({500}, -1, 1, 3)}}},
      2e-3);
  trainAsInterpreted({"g (float[6,5,100] x, float[5] s, float[5] b) => (float[6,5,100] y) "
                      "<float[5] m = {0,0,0,0,0}, float[5] v = {1,1,1,1,1}>"
                      " { y, m2, v2 = BatchNormalization <training_mode = 1> (x, s, b, m, v) }",
                      {{"x", ReferenceArray([&] {
                          ReferenceArray r = x;
                          r.shape = {6, 5, 100};
                          return r;
                        }())},
                       {"s", spread({5}, 0.5, 1.5, 2)},
                       {"b", spread({5}, -1, 1, 3)}}},
                     2e-3);
}

TEST_CASE("accumulation: a softmax over many equal scores sums to one") {
  for (int64_t count : {512, 5000}) {
    std::string shape = "[2," + std::to_string(count) + "]";
    Training training = trainAsInterpreted(
        {"g (float" + shape + " x) => (float" + shape + " y) { y = Softmax <axis = 1> (x) }",
         {{"x", filled({2, count}, 3)}}});
    checkNear(training.output("y"), std::vector<double>(2 * count, 1 / static_cast<double>(count)),
              1e-6);
  }
}

TEST_CASE("accumulation: sums of a model in 16-bit floats") {
  // In bf16 a sum of ones would stay at 256, in f16 at 2048; 5000 is between two numbers of bf16.
  for (auto [type, sum] : {std::pair("16", 4992.0), std::pair("10", 5000.0)}) {
    INFO(type);
    const std::string narrow = "Cast <to = " + std::string(type) + "> ";
    Training training = train({"g (float[5000] x) => (float s, float m, float v) { h = " + narrow +
                                   "(x) t = ReduceSum <keepdims = 0> (h) s = Cast <to = 1> (t) "
                                   "q = ReduceMean <keepdims = 0> (h) m = Cast <to = 1> (q) "
                                   "r = ReduceL2 <keepdims = 0> (h) v = Cast <to = 1> (r) }",
                               {{"x", filled({5000}, 1)}},
                               {},
                               {{"s", filled({}, 1)}, {"m", filled({}, 0)}, {"v", filled({}, 0)}}});
    CHECK(training.error.empty());
    checkEqual(training.output("s"), {sum});
    checkEqual(training.output("m"), {1});
    checkNear(training.output("v"), {std::sqrt(5000.0)}, 4e-3);
    checkEqual(training.gradient("x"), std::vector<double>(5000, 1));
  }
}
