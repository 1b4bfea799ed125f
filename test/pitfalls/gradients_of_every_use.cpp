// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients that were dropped where a value has many uses, and parameters that had none at all.
#include "Trained.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;

TEST_CASE("gradients_of_every_use: one to ten uses of a value") {
  for (int uses = 1; uses <= 10; ++uses) {
    INFO(uses << " uses");
    // y = sum over k of k h, with h = 2 x; and as many outputs of their own.
    std::string body = "two = Constant <value = float {2}> () h = Mul(x, two) ",
                results = "float[5] y", terms;
    Values cotangents = {{"y", filled({5}, 1)}};
    double slope = 0;
    for (int k = 1; k <= uses; ++k) {
      std::string n = std::to_string(k);
      body += "c" + n + " = Constant <value = float {" + n + "}> () t" + n + " = Mul(h, c" + n +
              ") o" + n + " = Neg(t" + n + ") ";
      terms += (k > 1 ? ", t" : "t") + n;
      results += ", float[5] o" + n;
      cotangents["o" + n] = filled({5}, 0.5);
      slope += 2 * k - 0.5 * 2 * k;
    }
    Training training = trainAsInterpreted(
        {"g (float[5] x) => (" + results + ") { " + body + "y = Sum(" + terms + ") }",
         {{"x", spread({5})}},
         {},
         cotangents});
    checkNear(training.gradient("x"), std::vector<double>(5, slope), 1e-6);
  }
}

TEST_CASE("gradients_of_every_use: one to ten uses as operands of one product") {
  for (int uses = 1; uses <= 10; ++uses) {
    INFO(uses << " factors");
    std::string body = "p1 = Identity(x) ", last = "p1";
    for (int k = 2; k <= uses; ++k) {
      body += "p" + std::to_string(k) + " = Mul(" + last + ", x) ";
      last = "p" + std::to_string(k);
    }
    Training training =
        trainAsInterpreted({"g (float x) => (float y) { " + body + "y = Identity(" + last + ") }",
                            {{"x", filled({}, 1.25)}},
                            {},
                            {{"y", filled({}, 1)}}});
    checkNear(training.gradient("x"), {uses * std::pow(1.25, uses - 1)}, 1e-6);
  }
}

TEST_CASE("gradients_of_every_use: every parameter of a block has a gradient that is not zero") {
  const std::vector<std::pair<const char *, std::vector<int64_t>>> shapes = {
      {"q", {16, 16}}, {"k", {16, 16}}, {"v", {16, 16}}, {"o", {16, 16}},
      {"s1", {16}},    {"b1", {16}},    {"s2", {16}},    {"b2", {16}},
      {"u", {16, 32}}, {"ub", {32}},    {"d", {32, 16}}, {"db", {16}}};
  Values parameters;
  std::string arguments = "float[2,5,16] x";
  for (const auto &[name, shape] : shapes) {
    parameters[name] = spread(shape, -0.5, 0.5, 1 + parameters.size());
    std::string type;
    for (int64_t extent : shape)
      type += (type.empty() ? ", float[" : ",") + std::to_string(extent);
    arguments += type + "] " + name;
  }
  Training training = trainAsInterpreted({"g (" + arguments + R"() => (float[2,5,16] y) {
        n = LayerNormalization <axis = -1> (x, s1, b1)
        qs = MatMul(n, q) ks = MatMul(n, k) vs = MatMul(n, v)
        kt = Transpose <perm = [0, 2, 1]> (ks)
        s = MatMul(qs, kt) p = Softmax <axis = -1> (s) a = MatMul(p, vs) ao = MatMul(a, o)
        r = Add(x, ao)
        m = LayerNormalization <axis = -1> (r, s2, b2)
        h = MatMul(m, u) hb = Add(h, ub) g = Sigmoid(hb) e = MatMul(g, d) eb = Add(e, db)
        y = Add(r, eb)
      })",
                                          parameters,
                                          {{"x", spread({2, 5, 16}, -1, 1, 99)}}},
                                         1e-5);
  for (const auto &[name, shape] : shapes) {
    INFO(name);
    int64_t zeros = llvm::count(training.gradient(name).values, 0.0);
    CHECK(zeros == 0);
    CHECK(training.updated(name).values != parameters[name].values);
  }
}

TEST_CASE("gradients_of_every_use: a parameter through both branches, all pieces and every step") {
  Training pieces =
      trainAsInterpreted({R"(g (float[6] x) => (float[2] a, float[2] b, float[2] c, float[12] d) {
            a, b, c = Split <axis = 0> (x)
            d = Concat <axis = 0> (x, c, b, a)
          })",
                          {{"x", spread({6})}},
                          {},
                          {{"a", filled({2}, 1)},
                           {"b", filled({2}, 10)},
                           {"c", filled({2}, 100)},
                           {"d", filled({12}, 1000)}}});
  checkEqual(pieces.gradient("x"), {2001, 2001, 2010, 2010, 2100, 2100});
}
