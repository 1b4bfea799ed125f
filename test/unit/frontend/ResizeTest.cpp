// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Resize makes of wide kernels, against PyTorch's antialias, which counts no elements outside,
// and what does not fit.
#include "ModelText.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {
std::string graphOf(const std::string &attributes, const std::string &inputs = "x, , , s") {
  return "g (float[1,1,1,8] x) => (float[1,1,1,2] y) <int64[4] s = {1, 1, 1, 2}, float[4] f = {1, "
         "1, 1, 0.25},"
         " float[2] r = {0, 1}> { y = Resize<" +
         attributes + ">(" + inputs + ") }";
}

std::vector<double> shrunk(const std::string &attributes) {
  auto model = importText(graphOf(attributes), {}, 19);
  ReferenceArray x({1, 1, 1, 8}, 0);
  x.values = {1, 2, 4, 8, 16, 32, 64, 128};
  return model.run({{"x", x}})["y"].values;
}
} // namespace

TEST_CASE("kernels of an antialiased resize are as wide as a step of the result") {
  auto linear = shrunk("mode = \"linear\", antialias = 1, exclude_outside = 1");
  CHECK(linear[0] == Approx(5.964285850524902));
  CHECK(linear[1] == Approx(50.71428680419922));
  auto cubic = shrunk("mode = \"cubic\", cubic_coeff_a = -0.5, antialias = 1, exclude_outside = 1");
  CHECK(cubic[0] == Approx(2.4141438007354736));
  CHECK(cubic[1] == Approx(53.60725402832031));
  auto edge = shrunk("mode = \"linear\", antialias = 1"); // ONNX's reference: the edge is repeated
  CHECK(edge[0] == Approx(5.34375));
  CHECK(edge[1] == Approx(60.375));
}

TEST_CASE("resizes that do not fit are refused") {
  auto problem = [](const std::string &graph) { return importText(graph, {}, 19).problems(); };
  const char *crop = "mode = \"linear\", coordinate_transformation_mode = \"tf_crop_and_resize\"";
  CHECK_THAT(problem(graphOf(crop, "x, r, , s")),
             Contains("the roi (input 1) has 2 entries for 4 axes"));
  CHECK_THAT(problem("g (float[1,100000] x) => (float[1,1000] y) <float[2] f = {1, 0.01}>"
                     " { y = Resize<mode = \"linear\", antialias = 1>(x, , f) }"),
             Contains("antialias from 100000 to 1000 elements"));
}
