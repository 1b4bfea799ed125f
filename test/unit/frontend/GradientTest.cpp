// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ai.onnx.preview.training.Gradient: what is differentiated, by what, and at which values.
#include "ModelText.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

using Values = std::map<std::string, double>;

/// A graph of scalars in ONNX's text syntax, where `D` stands for the operator Gradient; what it
/// gives for its inputs.
Imported graph(std::string text) {
  for (size_t at = text.find("= D <"); at != std::string::npos; at = text.find("= D <"))
    text.replace(at + 2, 1, "ai.onnx.preview.training.Gradient");
  return importText(text);
}

Values run(const std::string &text, const Values &inputs) {
  std::map<std::string, ReferenceArray> arrays;
  for (const auto &[name, value] : inputs)
    arrays.insert({name, ReferenceArray({}, value)});
  Values results;
  for (const auto &[name, array] : graph(text).run(arrays))
    results[name] = array.values[0];
  return results;
}

} // namespace

TEST_CASE("Gradient: of inputs, and of an intermediate tensor") {
  // y = (a + b) a
  Values found = run(R"(
    g (float a, float b) => (float y, float da, float db, float dc) {
      c = Add(a, b)
      y = Mul(c, a)
      da, db = D <xs = ["a", "b"], y = "y"> (a, b)
      dc = D <xs = ["c"], zs = ["a"], y = "y"> (c, a)
    })",
                     {{"a", 3}, {"b", 5}});
  CHECK(found == Values{{"y", 24}, {"da", 11}, {"db", 3}, {"dc", 3}});
}

TEST_CASE("Gradient: at values that its inputs give") {
  Values found = run(R"(
    g (float a, float b, float at) => (float y, float da, float dc) {
      c = Mul(a, a)
      y = Mul(c, b)
      da = D <xs = ["a"], zs = ["b"], y = "y"> (at, b)
      dc = D <xs = ["c"], zs = ["b"], y = "y"> (c, at)
    })",
                     {{"a", 3}, {"b", 5}, {"at", 7}});
  CHECK(found == Values{{"y", 45}, {"da", 70}, {"dc", 7}});
}

TEST_CASE("Gradient: of a gradient, and of functions that have no rule of their own") {
  Values found = run(R"(
    g (float a) => (float y, float first, float second, float third) {
      b = Mul(a, a)
      y = Mul(b, b)
      first = D <xs = ["a"], y = "y"> (a)
      second = D <xs = ["a"], y = "first"> (a)
      third = D <xs = ["a"], y = "second"> (a)
    })",
                     {{"a", 2}});
  CHECK(found == Values{{"y", 16}, {"first", 32}, {"second", 48}, {"third", 48}});
  found = run(R"(
    g (float a) => (float y, float da, float dda) {
      b = Softplus(a)
      c = Elu(b)
      y = Softsign(c)
      da = D <xs = ["a"], y = "y"> (a)
      dda = D <xs = ["a"], y = "da"> (a)
    })",
              {{"a", 0}});
  // With s = log 2: y = s / (1 + s), s' = 1 / 2, s'' = 1 / 4
  double s = std::log(2.0);
  CHECK(found["da"] == Approx(0.5 / ((1 + s) * (1 + s))));
  CHECK(found["dda"] == Approx(0.25 / ((1 + s) * (1 + s)) - 0.5 / std::pow(1 + s, 3)));
}

TEST_CASE("Gradient: by constants, by other names of a tensor, and of what does not depend on it") {
  Values found = run(R"(
    g (float a) => (float y, float dw, float db, float none) <float Constant_w = {3}> {
      b = Identity(a)
      u = Mul(Constant_w, Constant_w)
      v = Mul(u, a)
      y = Mul(v, b)
      dw = D <xs = ["Constant_w"], y = "y"> (Constant_w)
      db = D <xs = ["b"], zs = ["a"], y = "y"> (b, a)
      none = D <xs = ["a"], y = "u"> (a)
    })",
                     {{"a", 2}});
  CHECK(found == Values{{"y", 36}, {"dw", 24}, {"db", 18}, {"none", 0}});
}

TEST_CASE("Gradient: no barrier stays where a tensor has one name") {
  Imported model = graph(R"(
    g (float[2,3] x) => (float y, float[3,4] dw) <float[3,4] w = {1,2,3,4,5,6,7,8,9,10,11,12}> {
      h = MatMul(x, w)
      t = Tanh(h)
      y = ReduceSum <keepdims = 0> (t)
      dw = D <xs = ["w"], zs = ["x"], y = "y"> (w, x)
    })");
  std::string text = model.text();
  CHECK(model.role("w") == "parameter");
  CHECK(text.find("prim.optimization_barrier") == std::string::npos);
}

TEST_CASE("Gradient: by one of several results of a node") {
  Imported model = graph(R"(
    g (float[2,1] x) => (float y, float[1] dm)
    <float[1] scale = {1}, float[1] bias = {3}, float[1] mean = {0}, float[1] var = {1}> {
      n, m, v = BatchNormalization <training_mode = 1> (x, scale, bias, mean, var)
      p = Mul(n, m)
      y = ReduceSum <keepdims = 0> (p)
      dm = D <xs = ["m"], zs = ["x"], y = "y"> (m, x)
    })");
  auto results = model.run({{"x", ReferenceArray({2, 1}, 5.0)}});
  CHECK(results.at("dm").values[0] == Approx(6)); // the sum of n, which has the mean 3
}

TEST_CASE("Gradient: none flows through the statistics of a batch normalisation") {
  Imported model = graph(R"(
    g (float[2,1] x) => (float y, float[2,1] dx)
    <float[1] scale = {1}, float[1] bias = {3}, float[1] mean = {0}, float[1] var = {1}> {
      n, m, v = BatchNormalization <training_mode = 1> (x, scale, bias, mean, var)
      s = Add(m, v)
      p = Mul(x, s)
      y = ReduceSum <keepdims = 0> (p)
      dx = D <xs = ["x"], y = "y"> (x)
    })");
  auto results = model.run({{"x", array({2, 1}, {1, 3})}});
  CHECK(results.at("dx").values[0] == Approx(0.1 * 2 + 0.9 * 1 + 0.1 * 1));
  CHECK(results.at("dx").values[1] == results.at("dx").values[0]);
}

TEST_CASE("Gradient: in a function that is called with a constant") {
  std::string text = R"(
    g (float a) => (float y, float d) <float Constant_2 = {4}> {
      y, d = local.f(Constant_2)
    })",
              function = R"(
    <domain: "local", opset_import: ["" : 17, "ai.onnx.preview.training" : 1]>
    f (w) => (y, d) {
      y = Mul(w, w)
      d = ai.onnx.preview.training.Gradient <xs = ["w"], y = "y"> (w)
    })";
  Imported model = importBytes(modelBytes(text, 17, "", function));
  CHECK(model.run({{"a", ReferenceArray({}, 1.0)}})["d"].values[0] == 8);
}

TEST_CASE("Gradient: of gradients of gradients, as far as memory goes", "[hostile]") {
  std::string body = "y0 = Tanh(a)\n";
  for (int i = 0; i < 40; ++i)
    body += "y" + std::to_string(i + 1) + " = D <xs = [\"a\"], y = \"y" + std::to_string(i) +
            "\"> (a)\n";
  CHECK_THAT(graph("g (float a) => (float y40) { " + body + "}").problems(),
             Contains("its gradients taken"));
}

TEST_CASE("Gradient: no barrier stays where nothing reads the tensor") {
  Imported model = graph(R"(
    g (float a) => (float y, float none) {
      b = Tanh(a)
      c = Identity(b)
      y = Neg(a)
      none = D <xs = ["c"], y = "y"> (c)
    })");
  CHECK(model.text().find("prim.optimization_barrier") == std::string::npos);
  CHECK(model.text().find("prim.tanh") == std::string::npos);
}

TEST_CASE("Gradient: of a tensor, a warning") {
  Imported model = graph(R"(
    g (float[3] a) => (float[3] y, float[3] da) {
      y = Mul(a, a)
      da = D <xs = ["a"], y = "y"> (a)
    })");
  CHECK_THAT(model.warnings(), Contains("'y' has 3 elements: the gradient of their sum is taken"));
  auto values = model.run({{"a", ReferenceArray({3}, 2.0)}})["da"].values;
  CHECK(std::vector<double>(values.begin(), values.end()) == std::vector<double>{4, 4, 4});
}

TEST_CASE("Gradient: what is not supported is named") {
  auto problems = [](const std::string &node) {
    return graph("g (float a, float[2] v, int64 i) => (float y) { b = Mul(a, a)\n q = Relu(b)\n " +
                 node + " }")
        .problems();
  };
  CHECK_THAT(problems("y = D <xs = [\"a\"], y = \"b\"> (a, b)"),
             Contains("has 2 inputs for the 1 tensors"));
  CHECK_THAT(problems("y = D <xs = [\"c\"], y = \"b\"> (a)"),
             Contains("the attribute 'xs' uses 'c', which nothing produces"));
  CHECK_THAT(problems("y = D <xs = [\"a\"], zs = [\"c\"], y = \"b\"> (a, b)"),
             Contains("the attribute 'zs' uses 'c'"));
  CHECK_THAT(problems("y = D <xs = [\"a\"], y = \"later\"> (a)\n later = Neg(a)"),
             Contains("the attribute 'y' uses 'later'"));
  CHECK_THAT(problems("y = D <xs = [\"a\"]> (a)"), Contains("the attribute 'y' is missing"));
  CHECK_THAT(problems("y = D <y = \"b\"> ()"), Contains("the attribute 'xs' is missing or empty"));
  CHECK_THAT(problems("y = D <xs = [\"a\"], y = \"b\"> (v)"),
             Contains("input 0 has the shape [2] or another element type than 'a'"));
  CHECK_THAT(problems("y, z = D <xs = [\"a\", \"a\"], y = \"b\"> (a, a)"),
             Contains("'a' is named twice"));
  CHECK_THAT(problems("y = D <xs = [\"i\"], y = \"b\"> (i)"),
             Contains("must be a tensor of floats"));
  CHECK_THAT(problems("y = D <xs = [\"a\"], y = \"i\"> (a)"),
             Contains("'i' of the attribute 'y' must be a tensor of floats"));
}

TEST_CASE("optimizers: what is not supported is named") {
  auto problems = [](const std::string &node) {
    return importText("g (float r, int64 t, float[2] x, float[2] g, float[3] v, float[2] h) => "
                      "(float[2] y) { y = ai.onnx.preview.training." +
                      node + " }")
        .problems();
  };
  CHECK_THAT(problems("Adagrad (r, t, x, g)"), Contains("has 4 inputs, and takes R, T and 3"));
  CHECK_THAT(problems("Adagrad (r, t)"), Contains("has 2 inputs"));
  CHECK_THAT(problems("Adagrad (r, t, x, g, v)"), Contains("H_1 has the shape [3]"));
  CHECK_THAT(problems("Adagrad (x, t, x, g, h)"), Contains("input 0 must be a scalar"));
  CHECK_THAT(problems("Adam <alpha = 1.0> (r, t, x, g, h, h)"),
             Contains("'alpha' must lie in [0, 1)"));
  CHECK_THAT(problems("Momentum (r, t, x, g, h)"), Contains("the attribute 'alpha' is missing"));
  CHECK_THAT(problems("Momentum <alpha = 0.9, beta = 1.0, norm_coefficient = 0.0, mode = \"fast\"> "
                      "(r, t, x, g, h)"),
             Contains("unknown mode 'fast'"));
}
