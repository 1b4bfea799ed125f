// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forms of ONNX's operators that neither its node tests nor PyTorch's exporters have.
#include "ModelText.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

TEST_CASE("Attention: output 3 has the mask in the modes 2 and 3 alone") {
  auto scores = [](int mode, double softcap = 0) {
    auto model = importText("g (float[1,1,1,2] q, float[1,1,2,2] k, float[1,1,2,2] v, bool[1,2] m)"
                            " => (float[1,1,1,2] s) { y, , , s = Attention <scale = 1.0,"
                            " qk_matmul_output_mode = " +
                                std::to_string(mode) + ", softcap = " + std::to_string(softcap) +
                                "> (q, k, v, m) }",
                            {}, 23);
    REQUIRE(model.problems() == "");
    ReferenceArray k = array({1, 1, 2, 2}, {1, 0, 0, 1});
    return model
        .run({{"q", array({1, 1, 1, 2}, {3, 5})},
              {"k", k},
              {"v", k},
              {"m", array({1, 2}, {0, 1})}})["s"]
        .values;
  };
  CHECK(scores(0) == std::vector<double>{3, 5});
  CHECK(scores(1) == std::vector<double>{3, 5});
  CHECK(scores(0, 4) == std::vector<double>{3, 5});
  CHECK(scores(1, 4)[0] == Approx(4 * std::tanh(3.0 / 4)));
  CHECK(scores(2) == std::vector<double>{-std::numeric_limits<double>::infinity(), 5});
  CHECK(scores(3) == std::vector<double>{0, 1});
}

TEST_CASE("Slice: backward, a start before the first element is the first") {
  auto slice = [](int start, int step) {
    auto model =
        importText("g (float[5] x) => (float[n] y) <int64[1] s = {" + std::to_string(start) +
                   "}, int64[1] e = {-100}, int64[1] a = {0}," + " int64[1] t = {" +
                   std::to_string(step) + "}> { y = Slice(x, s, e, a, t) }");
    REQUIRE(model.problems() == "");
    return model.run({{"x", array({5}, {1, 2, 3, 4, 5})}})["y"].values;
  };
  CHECK(slice(-9, -1) == std::vector<double>{1});
  CHECK(slice(-6, -2) == std::vector<double>{1});
  CHECK(slice(-5, -2) == std::vector<double>{1});
  CHECK(slice(9, -2) == std::vector<double>{5, 3, 1});
  CHECK(slice(-9, 2).empty());
}

TEST_CASE("two operands before operator set 7: axis says where the second one lies") {
  auto run = [](const std::string &op, const std::string &type, int axis) {
    return importText("g (" + type + "[2,2] a, " + type + "[2] b) => (float[2,2] y) { z = " + op +
                          " <broadcast = 1, axis = " + std::to_string(axis) +
                          "> (a, b) y = Cast <to = 1> (z) }",
                      {}, 6);
  };
  auto results = [&](const std::string &op, const std::string &type) {
    auto model = run(op, type, 0);
    REQUIRE(model.problems() == "");
    return model.run({{"a", array({2, 2}, {0, 1, 1, 3})}, {"b", array({2}, {0, 1})}})["y"].values;
  };
  CHECK(results("Sub", "float") == std::vector<double>{0, 1, 0, 2});
  CHECK(results("Pow", "float") == std::vector<double>{1, 1, 1, 3});
  CHECK(results("Less", "float") == std::vector<double>{0, 0, 0, 0});
  CHECK(results("Greater", "float") == std::vector<double>{0, 1, 0, 1});
  CHECK(results("Equal", "int32") == std::vector<double>{1, 0, 1, 0});
  CHECK(results("And", "bool") == std::vector<double>{0, 0, 1, 1});
  CHECK_THAT(run("Less", "float", 1).problems() + run("Less", "float", -1).problems(), Equals(""));
  CHECK_THAT(importText("g (float[2,2,2] a, float[2,2] b) => (bool[2,2,2] y)"
                        " { y = Less <broadcast = 1, axis = 2> (a, b) }",
                        {}, 6)
                 .problems(),
             Contains("does not fit one of shape [2, 2, 2] from axis 2 on"));
}

TEST_CASE("Range: integers that no double holds") {
  auto model = importText("g () => (int64[n] y) <int64 s = {9007199254740993}, int64 l = "
                          "{9007199254740996}, int64 d = {1}> { y = Range(s, l, d) }");
  REQUIRE(model.problems() == "");
  CHECK_THAT(model.text(), Contains("dense<9007199254740993> : tensor<3xi64>"));
}
