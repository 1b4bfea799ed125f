// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers with scales: what is known of them beyond ONNX's node tests. cli.exports trains a model
// with them as PyTorch does.
#include "ModelText.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {
/// Whether a gradient passes from y to x: through what is no function of its bits.
bool isStraight(const std::string &graph, int opset = 21) {
  auto model = importText(graph, {}, opset);
  CHECK(model.problems().empty());
  return model.text().find("nn.straight_through") != std::string::npos;
}
} // namespace

TEST_CASE(
    "gradients pass a pair of QuantizeLinear and DequantizeLinear with equal parameters only") {
  auto pair = [](const char *scale, const char *zero) {
    return std::string(
               "g (float[4] x) => (float[4] y) <float s = {0.5}, float t = {0.5}, float o = {0.25},"
               " int8 a = {3}, int8 b = {3}, int8 c = {0}>"
               " { q = QuantizeLinear(x, s, a) y = DequantizeLinear(q, ") +
           scale + ", " + zero + ") }";
  };
  CHECK(isStraight(pair("s", "a")));
  CHECK(isStraight(pair("t", "b"))); // repeated in the file
  CHECK_FALSE(isStraight(pair("o", "a")));
  CHECK_FALSE(isStraight(pair("s", "c")));
  CHECK_FALSE(isStraight(pair("s", "")));
  auto along = [](const char *first, const char *second) {
    return std::string("g (float[2,2] x) => (float[2,2] y) <float[2] s = {0.5, 1}>"
                       " { q = QuantizeLinear<axis = ") +
           first + ">(x, s) y = DequantizeLinear<axis = " + second + ">(q, s) }";
  };
  CHECK(isStraight(along("0", "0")));
  CHECK_FALSE(isStraight(along("0", "1")));
  CHECK(isStraight("g (float[4] x) => (float[4] y)"
                   " { q, s, z = DynamicQuantizeLinear(x) y = DequantizeLinear(q, s, z) }"));
}

TEST_CASE("gradients pass integers that are clipped, and no others that are changed") {
  auto between = [](const char *nodes) {
    return std::string("g (float[2,2] x) => (float[2,2] y)"
                       " <float s = {0.5}, uint8 a = {3}, uint8 low = {0}, uint8 high = {127}>"
                       " { q = QuantizeLinear(x, s, a) ") +
           nodes + " y = DequantizeLinear(r, s, a) }";
  };
  CHECK(isStraight(between("r = Clip(q, low, high)")));
  CHECK(isStraight(between("c = Clip(q, low) r = Clip(c, , high)")));
  CHECK(isStraight(between("r = Identity(q)")));
  for (const char *nodes : {"r = Transpose(q)", "c = Clip(q, low, high) r = Max(c, a)"}) {
    auto model = importText(between(nodes), {}, 21);
    CHECK_THAT(model.problems(), Contains("changed by another operator than Clip"));
  }
  auto ofFloats = importText(R"(
    g (float[2,2] x) => (float[2,2] y) <float s = {0.5}, uint8 a = {3}>
      { q = QuantizeLinear(x, s, a) f = Cast<to = 1>(q) t = Transpose(f) r = Cast<to = 2>(t)
        y = DequantizeLinear(r, s, a) })",
                             {}, 21);
  CHECK(ofFloats.problems().empty()); // any other rounding
}

TEST_CASE("a scale is a buffer, not a parameter") {
  auto model = importText(R"(
    g (float[2,2] x) => (float[2,2] y) <float[2] s = {0.5, 1}, float[2] t = {0.5, 1}>
      { q = QuantizeLinear(x, s) y = DequantizeLinear(q, t) })",
                          {}, 21);
  CHECK(model.role("s") == "buffer");
  CHECK(model.role("t") == "buffer");
}

TEST_CASE("the last block of an axis may be shorter") {
  auto model = importText(R"(
    g (int8[1,5] x) => (float[1,5] y) <float[1,3] s = {1, 10, 100}, int8[1,3] z = {0, 1, 2}>
      { y = DequantizeLinear<axis = 1, block_size = 2>(x, s, z) })",
                          {}, 21);
  auto y = model.run({{"x", array({1, 5}, {1, 2, 3, 4, 5})}})["y"];
  CHECK(y.values == std::vector<double>{1, 2, 20, 30, 300});
}

TEST_CASE("a block may be longer than its axis") {
  auto model = importText(R"(
    g (int8[1,2] x) => (float[1,2] y) <float[1,1] s = {10}>
      { y = DequantizeLinear<axis = 1, block_size = 9223372036854775807>(x, s) })",
                          {}, 21);
  CHECK(model.run({{"x", array({1, 2}, {1, 2})}})["y"].values == std::vector<double>{10, 20});
}

TEST_CASE("32-bit integers lose nothing against their zero point") {
  auto model = importText(R"(
    g (int32[2] x) => (float[2] y) <float s = {1}, int32 z = {-2147483647}>
      { y = DequantizeLinear(x, s, z) })",
                          {}, 21);
  auto y = model.run({{"x", array({2}, {-2147483646, 2147483647})}})["y"];
  CHECK(y.values == std::vector<double>{1, 4294967294.0});
}

TEST_CASE("zeros quantized dynamically are zeros") {
  auto model = importText(R"(
    g (float[2] x) => (uint8[2] q, float s, uint8 z) { q, s, z = DynamicQuantizeLinear(x) })");
  auto results = model.run({{"x", array({2}, {0, 0})}});
  CHECK(results["q"].values == std::vector<double>{0, 0});
  CHECK(results["s"].values == std::vector<double>{0});
  CHECK(results["z"].values == std::vector<double>{0});
}

TEST_CASE("what quantization does not fit is said") {
  auto problem = [](const std::string &graph) { return importText(graph, {}, 21).problems(); };
  CHECK_THAT(problem("g (float[4,6] x) => (uint8[4,6] y) <float[5] s = {1, 1, 1, 1, 1}>"
                     " { y = QuantizeLinear(x, s) }"),
             Contains("the shape [5] for data of shape [4, 6] along axis 1"));
  CHECK_THAT(problem("g (float[4,6] x) => (uint8[4,6] y) <float[4,2] s = {1, 1, 1, 1, 1, 1, 1, 1}>"
                     " { y = QuantizeLinear<block_size = 2>(x, s) }"),
             Contains("in blocks of 2"));
  CHECK_THAT(problem("g (float[4] x) => (int32[4] y) <float s = {1}, int32 z = {0}>"
                     " { y = QuantizeLinear(x, s, z) }"),
             Contains("quantized data must be integers of 8 to 16 bits"));
  CHECK_THAT(problem("g (float[4] x) => (int8[4] y) <float s = {1}>"
                     " { y = QuantizeLinear<output_dtype = 22>(x, s) }"),
             Contains("tensors of 4-bit integers are not supported"));
  CHECK_THAT(problem("g (int8[4] x) => (float[4] y) <float s = {1}, uint8 z = {0}>"
                     " { y = DequantizeLinear(x, s, z) }"),
             Contains("the zero point (input 2) must have the type of the data"));
  CHECK_THAT(problem("g (int8[2,2] a, uint8[2,2] b) => (int32[2,2] y) <int8 z = {1}>"
                     " { y = MatMulInteger(a, b, , z) }"),
             Contains("a zero point must have the element type of its data"));
}
