// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators with graphs as attributes, beyond ONNX's node tests.
#include "ModelText.h"

#include "frontend/onnx/Proto.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {
/// Operator set 8: sums from the last element on, for each sample; with or without lengths.
Imported scanOf(bool hasLengths, const std::string &samples = "2") {
  std::string graph = "g (int64[2] l, float[" + samples +
                      R"(,1] s, float[2,3] x) => (float[a,b] last, float[c,d] all) {
    z = Squeeze<axes = [1]>(s)
    last, all = Scan<num_scan_inputs = 1, directions = [1],
      body = add (float before, float e) => (float after, float kept) {
        after = Add(before, e)
        kept = Identity(after) }>(l, z, x) })";
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(modelBytes(graph, 8)));
  if (!hasLengths)
    model.mutable_graph()->mutable_node(1)->set_input(0, "");
  return importBytes(model.SerializeAsString());
}
} // namespace

TEST_CASE("the old form of Scan goes through each sample of a batch") {
  auto model = scanOf(false);
  auto results = model.run({{"l", array({2}, {3, 3})},
                            {"s", array({2, 1}, {10, 20})},
                            {"x", array({2, 3}, {1, 2, 3, 4, 5, 6})}});
  CHECK(results["last"].values == std::vector<double>{16, 35});
  CHECK(results["all"].values == std::vector<double>{13, 15, 16, 26, 31, 35});
  CHECK_THAT(scanOf(true).problems(), Contains("sequence_lens is not supported"));
  CHECK_THAT(scanOf(false, "3").problems(), Contains("different numbers of samples"));
}

TEST_CASE("a subgraph of attention must keep the shape of its tensor") {
  auto problem = [](const char *body) {
    return importText(
               std::string("g (float[1,2,3,4] q) => (float[1,2,3,4] y) {"
                           " y = ai.onnx.preview.FlexAttention<score_mod = m (float[1,2,3,3] s) =>"
                           " (float[1,2,3,3] t) { ") +
                   body + " }>(q, q, q) }",
               {}, 23)
        .problems();
  };
  CHECK(problem("t = Neg(s)").empty());
  CHECK_THAT(problem("t = ReduceSum(s)"),
             Contains("'score_mod' must make one tensor of the same shape"));
}
