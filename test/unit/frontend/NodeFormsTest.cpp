// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forms of ONNX's operators that neither its node tests nor PyTorch's exporters have.
#include "ModelText.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace accc;
using namespace accc::test;

TEST_CASE("Attention: output 3 has the mask in the modes 2 and 3 alone") {
  auto scores = [](int mode) {
    auto model = importText("g (float[1,1,1,2] q, float[1,1,2,2] k, float[1,1,2,2] v, bool[1,2] m)"
                            " => (float[1,1,1,2] s) { y, , , s = Attention <scale = 1.0,"
                            " qk_matmul_output_mode = " +
                                std::to_string(mode) + "> (q, k, v, m) }",
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
