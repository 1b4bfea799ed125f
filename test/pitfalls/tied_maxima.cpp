// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who of several equal maxima has the gradient: elsewhere none, all, or another one on each device.
#include "Trained.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace accc;
using namespace accc::test;

namespace {
/// The gradient of the sum of y for x and, where there is one, for b.
Training ofOnes(const std::string &graph, Values parameters, std::vector<int64_t> result,
                int opset = 17) {
  return trainAsInterpreted(
      {graph, std::move(parameters), {}, {{"y", filled(std::move(result), 1)}}, {}, opset});
}
} // namespace

TEST_CASE("tied_maxima: a window of equals gives its gradient to the first") {
  Training training = ofOnes("g (float[1,2,4,6] x) => (float[1,2,2,3] y) { y = MaxPool "
                             "<kernel_shape = [2,2], strides = [2,2]> (x) }",
                             {{"x", filled({1, 2, 4, 6}, 3)}}, {1, 2, 2, 3});
  ReferenceArray expected({1, 2, 4, 6});
  for (int64_t i = 0; i < 48; ++i)
    expected.values[i] = i / 6 % 2 == 0 && i % 2 == 0;
  checkEqual(training.gradient("x"), expected.values);
}

TEST_CASE("tied_maxima: overlapping windows and windows over padding give theirs to the first") {
  Training training = ofOnes("g (float[1,1,5] x) => (float[1,1,5] y) { y = MaxPool <kernel_shape = "
                             "[3], pads = [1,1]> (x) }",
                             {{"x", filled({1, 1, 5}, -7)}}, {1, 1, 5});
  checkEqual(training.gradient("x"), {2, 1, 1, 1, 0});
  Training global = ofOnes("g (float[2,3,700] x) => (float[2,3,1] y) { y = GlobalMaxPool(x) }",
                           {{"x", filled({2, 3, 700}, 0)}}, {2, 3, 1});
  double sum = 0;
  for (double value : global.gradient("x").values)
    sum += value;
  CHECK(sum == Approx(6));
}

TEST_CASE("tied_maxima: a reduction shares its gradient evenly") {
  for (const char *op : {"ReduceMax", "ReduceMin"})
    for (int64_t extent : {1, 2, 5, 64, 1000, 40000}) {
      INFO(op << " of " << extent);
      std::string shape = "[2," + std::to_string(extent) + "]";
      Training training = ofOnes("g (float" + shape + " x) => (float[2] y) { y = " + op +
                                     " <axes = [1], keepdims = 0> (x) }",
                                 {{"x", filled({2, extent}, 1.5)}}, {2});
      checkNear(training.gradient("x"),
                std::vector<double>(2 * extent, 1.0 / static_cast<double>(extent)), 1e-6);
    }
  Training some =
      ofOnes("g (float[2,4] x) => (float[2] y) { y = ReduceMax <axes = [1], keepdims = 0> (x) }",
             {{"x", array({2, 4}, {1, 3, 3, 0, -0.0, 0, -1, -2})}}, {2});
  checkEqual(some.gradient("x"), {0, 0.5, 0.5, 0, 0.5, 0.5, 0, 0});
  Training columns =
      ofOnes("g (float[300,3] x) => (float[3] y) { y = ReduceMax <axes = [0], keepdims = 0> (x) }",
             {{"x", filled({300, 3}, 2)}}, {3});
  checkNear(columns.gradient("x"), std::vector<double>(900, 1.0 / 300), 1e-6);
}

TEST_CASE("tied_maxima: of two equal operands each has half") {
  const ReferenceArray a = array({4}, {1, 2, 3, -0.0}), b = array({4}, {1, 3, 2, 0});
  Training max = ofOnes("g (float[4] a, float[4] b) => (float[4] y) { y = Max(a, b) }",
                        {{"a", a}, {"b", b}}, {4});
  checkEqual(max.gradient("a"), {0.5, 0, 1, 0.5});
  checkEqual(max.gradient("b"), {0.5, 1, 0, 0.5});
  Training min = ofOnes("g (float[4] a, float[4] b) => (float[4] y) { y = Min(a, b) }",
                        {{"a", a}, {"b", b}}, {4});
  checkEqual(min.gradient("a"), {0.5, 1, 0, 0.5});
  checkEqual(min.gradient("b"), {0.5, 0, 1, 0.5});
  Training self = ofOnes("g (float[4] a) => (float[4] y) { y = Max(a, a) }", {{"a", a}}, {4});
  checkEqual(self.gradient("a"), {1, 1, 1, 1});
  Training broadcast = ofOnes("g (float[2,4] a, float[1] b) => (float[2,4] y) { y = Max(a, b) }",
                              {{"a", filled({2, 4}, 1)}, {"b", filled({1}, 1)}}, {2, 4});
  checkEqual(broadcast.gradient("b"), {4});
}

TEST_CASE("tied_maxima: NaN among the operands") {
  // As in PyTorch: of a reduction with NaN every element has 0 / 0, of two operands both have all.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const char *op : {"ReduceMax", "ReduceMin"}) {
    INFO(op);
    Training rows = ofOnes("g (float[2,3] x) => (float[2] y) { y = " + std::string(op) +
                               " <axes = [1], keepdims = 0> (x) }",
                           {{"x", array({2, 3}, {1, nan, 3, 2, 2, 2})}}, {2});
    checkNear(rows.gradient("x"), {nan, nan, nan, 1.0 / 3, 1.0 / 3, 1.0 / 3}, 1e-6);
  }
  for (const char *op : {"Max", "Min"}) {
    INFO(op);
    Training both =
        ofOnes("g (float[3] a, float[3] b) => (float[3] y) { y = " + std::string(op) + "(a, b) }",
               {{"a", array({3}, {nan, 1, nan})}, {"b", array({3}, {1, nan, nan})}}, {3});
    checkEqual(both.gradient("a"), {1, 1, 1});
    checkEqual(both.gradient("b"), {1, 1, 1});
  }
  for (const char *body : {"y = Relu(x)", "y = Elu(x)", "y = Celu(x)", "y = Selu(x)"}) {
    INFO(body);
    Training bend = ofOnes("g (float[1] x) => (float[1] y) { " + std::string(body) + " }",
                           {{"x", filled({1}, nan)}}, {1});
    checkNear(bend.gradient("x"), {std::string(body) == "y = Selu(x)" ? 1.0507009873554805 : 1.0},
              1e-6);
  }
}

TEST_CASE("tied_maxima: kinks") {
  // As in PyTorch: 0 at the kink of ReLU and of |x|.
  struct Kink {
    const char *body;
    double at, slope;
  };
  for (const Kink &kink :
       {Kink{"y = Relu(x)", 0, 0}, Kink{"y = Relu(x)", -0.0, 0}, Kink{"y = Abs(x)", 0, 0},
        Kink{"y = Abs(x)", -0.0, 0}, Kink{"y = LeakyRelu <alpha = 0.25> (x)", 0, 0.25},
        Kink{"y = HardSwish(x)", 0, 0.5}}) {
    INFO(kink.body << " at " << kink.at);
    Training training = ofOnes("g (float[2] x) => (float[2] y) { " + std::string(kink.body) + " }",
                               {{"x", filled({2}, kink.at)}}, {2});
    checkEqual(training.gradient("x"), {kink.slope, kink.slope});
  }
}

TEST_CASE("tied_maxima: of equals the first is chosen") {
  Training top = ofOnes("g (float[2,5] x) => (float[2,2] y, int64[2,2] i) { k = Constant <value = "
                        "int64[1] {2}> () y, i = TopK(x, k) }",
                        {{"x", filled({2, 5}, 1)}}, {2, 2});
  checkEqual(top.output("i"), {0, 1, 0, 1});
  checkEqual(top.gradient("x"), {1, 1, 0, 0, 0, 1, 1, 0, 0, 0});
  Training arg = ofOnes(
      "g (float[2,500] x) => (int64[2] i, int64[2] l, float[2,500] y) { i = ArgMax <axis = 1, "
      "keepdims = 0> (x) l = ArgMin <axis = 1, keepdims = 0> (x) y = Identity(x) }",
      {{"x", filled({2, 500}, 1)}}, {2, 500});
  checkEqual(arg.output("i"), {0, 0});
  checkEqual(arg.output("l"), {0, 0});
}
