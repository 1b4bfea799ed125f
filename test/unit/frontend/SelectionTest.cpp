// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators whose result has a size that depends on the data, and operators with a state, beyond
// ONNX's node tests.
#include "ModelText.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {
std::string problem(const std::string &graph, int opset = 17) {
  return importText(graph, {}, opset).problems();
}
} // namespace

TEST_CASE("sizes that only the data tell are refused with the reason") {
  CHECK_THAT(problem("g (float[4] x) => (float[n] y) { y = Unique(x) }"),
             Contains("the number of different elements depends on input 0"));
  // Its initial value would be wrong after a step of training.
  CHECK_THAT(
      problem("g (float[4] x) => (float[n] y) <float[2] weight = {1, 2}> { u = Unique(weight)"
              " s = ReduceSum(u) y = Add(x, s) }"),
      Contains("the number of different elements depends on input 0"));
  const char *selection = "g (float[1,2,4] b, float[1,1,2] s) => (int64[n,3] y) <int64 most = {2}>"
                          " { y = NonMaxSuppression(b, s, most) }";
  CHECK_THAT(problem(selection), Contains("the number of selected boxes depends on input 0"));
}

TEST_CASE("what a mask selects keeps its element type, and is refused as a result") {
  const std::string selected = "{ zero = Constant<value_floats = [0.0]>() mask = Greater(x, zero)"
                               " places = NonZero(mask) rows = Transpose(places)"
                               " some = GatherND(numbers, rows) ";
  const std::string numbers = "<int32[4] numbers = {1, 2, 4, 8}, int64 axis = {0}> ";
  auto model =
      importText("g (float[4] x) => (int32 sum, int32[1] least, int32 last) " + numbers + selected +
                 "sum = ReduceSum<keepdims = 0>(some) least = ReduceMin(some)"
                 " sums = CumSum(some, axis) last = ReduceMax<keepdims = 0>(sums) }");
  REQUIRE(model.problems().empty());
  auto results = model.run({{"x", array({4}, {1, -1, 2, 0})}});
  CHECK(results["sum"].values == std::vector<double>{5});
  CHECK(results["least"].values == std::vector<double>{1});
  CHECK(results["last"].values == std::vector<double>{5});
  results = model.run({{"x", array({4}, {-1, -1, -1, -1})}});
  CHECK(results["sum"].values == std::vector<double>{0});
  CHECK(results["least"].values == std::vector<double>{2147483647});
  CHECK(results["last"].values == std::vector<double>{-2147483648});

  CHECK_THAT(problem("g (float[4] x) => (int32[n] some) " + numbers + selected + "}"),
             Contains("the mask that selects elements"));
  CHECK_THAT(
      problem("g (float[4] x) => (int32[n] y) " + numbers + selected + "y = BitwiseNot(some) }",
              18),
      Contains("the mask that selects elements"));
}

TEST_CASE("what a mask selects is summed in products, and padded to a size that is known") {
  auto model = importText(R"(
    g (float[4] x) => (float product, float[2,2] sums, float[6] padded, float[5] filled)
        <float[4,2] numbers = {1, 2, 3, 4, 5, 6, 7, 8}, int64[1] zero = {0}, int64[1] five = {5}> {
      none = Constant<value_floats = [0.0]>()
      mask = Greater(x, none)
      places = NonZero(mask)
      rows = Transpose(places)
      some = GatherND(numbers, rows)
      chosen = GatherND(x, rows)
      product = Einsum<equation = "n,n->">(chosen, chosen)
      sums = Einsum<equation = "nk, nl">(some, some)
      size = Shape(chosen)
      six = Constant<value_ints = [6]>()
      other = Constant<value_float = -1.0>()
      rest = Sub(six, size)
      pads = Concat<axis = 0>(zero, rest)
      padded = Pad(chosen, pads, other)
      least = Sub(five, size)
      zeros = ConstantOfShape(least)
      filled = Concat<axis = 0>(chosen, zeros)
    })",
                          {}, 17);
  REQUIRE(model.problems() == "");
  auto results = model.run({{"x", array({4}, {3, -1, 2, 0})}});
  CHECK(results["product"].values == std::vector<double>{13});
  CHECK(results["sums"].values == std::vector<double>{26, 32, 32, 40});
  CHECK(results["padded"].values == std::vector<double>{3, 2, -1, -1, -1, -1});
  CHECK(results["filled"].values == std::vector<double>{3, 2, 0, 0, 0});
  results = model.run({{"x", array({4}, {-3, -1, -2, 0})}});
  CHECK(results["sums"].values == std::vector<double>{0, 0, 0, 0});
  CHECK(results["padded"].values == std::vector<double>(6, -1));
}

TEST_CASE("what a mask selects is scattered at selected indices, and followed by others") {
  auto model = importText(R"(
    g (float[4] x, int64[4] to) => (float[2] added, float[2] product, float[2] least,
                                    float[2] greatest, float total) {
      none = Constant<value_floats = [0.0]>()
      base = Constant<value_floats = [1.0, 4.0]>()
      mask = Greater(x, none)
      places = NonZero(mask)
      rows = Transpose(places)
      some = GatherND(x, rows)
      at = GatherND(to, rows)
      added = ScatterElements<axis = 0, reduction = "add">(base, at, some)
      product = ScatterElements<axis = 0, reduction = "mul">(base, at, some)
      least = ScatterElements<axis = 0, reduction = "min">(base, at, some)
      greatest = ScatterElements<axis = 0, reduction = "max">(base, at, some)
      one = Constant<value_ints = [1]>()
      size = Shape(some)
      more = Add(size, one)
      halves = ConstantOfShape<value = float[1] {0.5}>(more)
      five = Constant<value_floats = [5.0]>()
      longer = Concat<axis = 0>(some, five)
      halved = Mul(longer, halves)
      total = ReduceSum<keepdims = 0>(halved)
    })",
                          {}, 18);
  REQUIRE(model.problems() == "");
  auto results = model.run({{"x", array({4}, {3, -1, 2, 0})}, {"to", array({4}, {1, 0, 1, 0})}});
  CHECK(results["added"].values == std::vector<double>{1, 9});
  CHECK(results["product"].values == std::vector<double>{1, 24});
  CHECK(results["least"].values == std::vector<double>{1, 2});
  CHECK(results["greatest"].values == std::vector<double>{1, 4});
  CHECK(results["total"].values == std::vector<double>{5});
  results = model.run({{"x", array({4}, {-3, -1, -2, 0})}, {"to", array({4}, {1, 0, 1, 0})}});
  CHECK(results["added"].values == std::vector<double>{1, 4});
  CHECK(results["product"].values == std::vector<double>{1, 4});
  CHECK(results["total"].values == std::vector<double>{2.5});
}

TEST_CASE("Unique takes all NaNs as one and 64-bit integers exactly") {
  auto model = importText(R"(
    g (float x) => (int64[n] counts, float[n] values, int64[k] large) {
      v = Constant<value_floats = [0.0, -0.0, 1.0]>()
      zero = Constant<value_floats = [0.0]>()
      nan = Div(zero, zero)
      all = Concat<axis = 0>(nan, v, nan)
      values, i, j, counts = Unique(all)
      w = Constant<value_ints = [9007199254740993, 9007199254740992, 9007199254740993]>()
      large = Unique(w) })");
  auto results = model.run({{"x", array({}, {0})}});
  CHECK(results["counts"].values == std::vector<double>{2, 1, 2});
  CHECK(results["large"].size() == 2);
}

TEST_CASE("no box of an empty score list, and none without a maximum") {
  auto selected = [](const char *inputs) {
    const char *boxes = R"(
      g (float x) => (int64[n,3] y)
        <int64[3] bs = {1, 1, 4}, int64[3] ss = {1, 1, 1}, int64 most = {2}, float least = {0.5}> {
        bv = Constant<value_floats = [0.0, 0.0, 1.0, 1.0]>() b = Reshape(bv, bs)
        sv = Constant<value_floats = [0.5]>() s = Reshape(sv, ss)
        y = NonMaxSuppression()";
    auto model = importText(std::string(boxes) + inputs + ") }");
    CHECK(model.problems().empty());
    return model.run({{"x", array({}, {0})}})["y"].size();
  };
  CHECK(selected("b, s, most") == 3);
  CHECK(selected("b, s") == 0);
  CHECK(selected("b, s, most, least, least") == 0); // the score must be greater
}

TEST_CASE("caches and states that do not fit are refused") {
  CHECK_THAT(
      problem("g (float[2,4,3] c, float[2,5,3] u) => (float[2,4,3] y) { y = TensorScatter(c, u) }",
              24),
      Contains("an update of the shape [2, 5, 3] along axis 1"));
  CHECK_THAT(problem("g (float[2,4] c, float[2,1] u, int64[3] w) => (float[2,4] y)"
                     " { y = TensorScatter<axis = 1>(c, u, w) }",
                     24),
             Contains("one for each sample"));
  CHECK_THAT(problem("g (float[1,2,5] x, float[2,1,3] w, float[1,2,3] p) => (float[1,2,5] y)"
                     " { y = CausalConvWithState(x, w, , p) }",
                     27),
             Contains("the past must have 2 positions"));
  CHECK_THAT(problem("g (float[1,2,5] x, float[3,1,3] w) => (float[1,2,5] y)"
                     " { y = CausalConvWithState(x, w) }",
                     27),
             Contains("the weights have the shape [3, 1, 3]"));
  const char *linear = "g (float[1,2,4] q, float[1,2,4] k, float[1,2,4] v) => (float[1,2,4] y)"
                       " { y = LinearAttention<q_num_heads = 2, kv_num_heads = 2, update_rule = "
                       "\"gated\">(q, k, v) }";
  CHECK_THAT(problem(linear, 27),
             Contains("update_rule 'gated' goes with a decay and without a beta"));
}

TEST_CASE("a filter bank must fit its transform") {
  auto bank = [](const char *bands, const char *high) {
    return problem(std::string("g (float x) => (float[n,m] y) <int64 b = {") + bands +
                   "}, int64 l = {16}, int64 r = {8192}, float low = {0}, float high = {" + high +
                   "}> { y = MelWeightMatrix(b, l, r, low, high) }");
  };
  CHECK(bank("8", "4000").empty());
  CHECK_THAT(bank("0", "4000"), Contains("the num_mel_bins is 0"));
  CHECK_THAT(bank("8", "8000"), Contains("from 0 to half of the sample rate"));
}
