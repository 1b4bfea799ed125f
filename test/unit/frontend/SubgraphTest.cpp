// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators with graphs as attributes, beyond ONNX's node tests.
#include "ModelGradients.h"

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

TEST_CASE("a branch that is not taken gives no gradient, though its own is NaN") {
  auto text = [](const std::string &yes, const std::string &no) {
    return "g (float[1,2] x, float[2,2] w, bool c) => (float[1,2] y) { y = If(c) <then_branch = t"
           " () => (float[1,2] a) { " +
           yes + " }, else_branch = e () => (float[1,2] b) { " + no + " }> }";
  };
  // The logarithm of 0, and its derivative, are infinite: as factors of a zero gradient, NaN.
  std::string bad = "l = Log(x) a = MatMul(l, w)", good = "b = MatMul(x, w)";
  Inputs inputs = {{"x", array({1, 2}, {0, 2})}, {"w", random({2, 2})}, {"c", array({}, {0})}};
  checkGradients(text(bad, good), inputs, {"x", "w"});
  inputs.at("c").values[0] = 1;
  checkGradients(text("a = MatMul(x, w)", "l = Log(x) b = MatMul(l, w)"), inputs, {"x", "w"});
  // In a branch of a branch, or a loop of one, too.
  std::string inner = "f = Constant<value = bool {0}>() no = And(c, f) a = If(no) <then_branch = t2"
                      " () => (float[1,2] a2) { l = Log(x) a2 = MatMul(l, w) }, else_branch = e2 ()"
                      " => (float[1,2] b2) { b2 = MatMul(x, w) }>";
  checkGradients(text(inner, "b = Identity(x)"), inputs, {"x", "w"});
}

TEST_CASE("a branch that depends on data changes statistics where it is taken") {
  auto model = importText(R"(
    g (float[2,1] x, bool c) => (float[2,1] y)
    <float[1] scale = {1}, float[1] bias = {0}, float[1] mean = {5}, float[1] var = {7}> {
      y = If(c) <then_branch = t () => (float[2,1] a) {
        a, m, v = BatchNormalization<training_mode = 1, momentum = 0.0>(x, scale, bias, mean, var)
      }, else_branch = e () => (float[2,1] b) { b = Neg(x) }>
    })");
  for (double taken : {0.0, 1.0}) {
    auto results = model.run({{"x", array({2, 1}, {1, 3})}, {"c", array({}, {taken})}});
    CHECK(results.at("update mean").values[0] == Approx(taken ? 2 : 5));
    CHECK(results.at("update var").values[0] == Approx(taken ? 1 : 7));
  }
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
