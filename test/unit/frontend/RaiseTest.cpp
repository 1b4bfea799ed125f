// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composites that exporters take apart: the whole op stands there again and computes the same.
#include "ModelText.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

struct Row {
  const char *name, *op, *nodes;
};

// In each, x is float[2,4], w and b are parameters of shape [4] (see kGraph), y the result.
const Row kRows[] = {
    {"gelu, TorchScript", "nn.gelu", R"(
      k = Constant <value = float {1.41421353816986}> ()
      one = Constant <value = float {1}> ()
      half = Constant <value = float {0.5}> ()
      d = Div(x, k)
      e = Erf(d)
      f = Add(e, one)
      g = Mul(x, f)
      y = Mul(g, half))"},
    {"gelu, other order", "nn.gelu", R"(
      k = Constant <value = float {0.70710678}> ()
      one = Constant <value = float {1}> ()
      half = Constant <value = float {0.5}> ()
      h = Mul(half, x)
      d = Mul(k, x)
      e = Erf(d)
      f = Add(one, e)
      y = Mul(h, f))"},
    {"gelu, tanh", "nn.gelu", R"(
      three = Constant <value = float {3}> ()
      c = Constant <value = float {0.044715}> ()
      r = Constant <value = float {0.797884583}> ()
      one = Constant <value = float {1}> ()
      half = Constant <value = float {0.5}> ()
      h = Mul(half, x)
      p = Pow(x, three)
      q = Mul(c, p)
      s = Add(x, q)
      t = Mul(r, s)
      u = Tanh(t)
      v = Add(one, u)
      y = Mul(h, v))"},
    {"silu", "nn.silu", "s = Sigmoid(x)  y = Mul(x, s)"},
    {"hard swish", "nn.hard_swish",
     "s = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x)  y = Mul(x, s)"},
    {"hard sigmoid", "nn.hard_sigmoid", R"(
      three = Constant <value = float {3}> ()
      zero = Constant <value = float {0}> ()
      six = Constant <value = float {6}> ()
      a = Add(x, three)
      c = Clip(a, zero, six)
      y = Div(c, six))"},
    {"log softmax", "nn.log_softmax", "s = Softmax <axis = -1> (x)  y = Log(s)"},
    {"softplus", "nn.softplus", R"(
      one = Constant <value = float {1}> ()
      e = Exp(x)
      f = Add(e, one)
      y = Log(f))"},
    {"layer norm", "nn.layer_norm", R"(
      two = Constant <value = float {2}> ()
      eps = Constant <value = float {0.00001}> ()
      m = ReduceMean <axes = [-1]> (x)
      d = Sub(x, m)
      p = Pow(d, two)
      v = ReduceMean <axes = [-1]> (p)
      a = Add(v, eps)
      s = Sqrt(a)
      n = Div(d, s)
      q = Mul(n, w)
      y = Add(q, b))"},
    {"rms norm", "nn.rms_norm", R"(
      two = Constant <value = float {2}> ()
      eps = Constant <value = float {0.00001}> ()
      one = Constant <value = float {1}> ()
      p = Pow(x, two)
      v = ReduceMean <axes = [-1]> (p)
      a = Add(v, eps)
      s = Sqrt(a)
      r = Reciprocal(s)
      n = Mul(x, r)
      y = Mul(w, n))"},
    {"linear with bias", "nn.linear", R"(
      wt = Transpose <perm = [1, 0]> (m4)
      p = MatMul(x, wt)
      y = Add(b, p))"},
};

std::string graph(const Row &row) {
  return std::string(
             "g (float[2,4] x) => (float[2,4] y) <float[4] w = {1,2,3,4}, float[4] b = {5,6,7,8}, "
             "float[4,4] m4 = {1,2,3,4,5,6,7,8,9,8,7,6,5,4,3,2}> {\n") +
         row.nodes + "\n}";
}

} // namespace

TEST_CASE("composites are raised and keep their value") {
  ReferenceArray x({2, 4});
  x.values = {-2, -0.5, 0.25, 1, 3, 0.75, -1.5, 2.5};
  for (const Row &row : kRows) {
    INFO(row.name);
    ImportOptions apart;
    apart.raise = false;
    auto raised = importText(graph(row)), parts = importText(graph(row), apart);
    CHECK_THAT(raised.text(), Contains(row.op));
    CHECK_THAT(parts.text(), !Contains(row.op));
    auto a = raised.run({{"x", x}}), b = parts.run({{"x", x}});
    for (int i = 0; i < 8; ++i)
      CHECK(a["y"].values[i] == Approx(b["y"].values[i]).epsilon(1e-6));
  }
}

TEST_CASE("what only looks like a composite is left alone") {
  // The mean of a square tensor along its last dimension, laid along the wrong one.
  auto wrongAxis = importText(R"(
    g (float[4,4] x) => (float[4,4] y) {
      two = Constant <value = float {2}> ()
      eps = Constant <value = float {0.00001}> ()
      p = Pow(x, two)
      v = ReduceMean <axes = [-1], keepdims = 0> (p)
      a = Add(v, eps)
      s = Sqrt(a)
      y = Div(x, s)
    })");
  CHECK_THAT(wrongAxis.text(), !Contains("nn.rms_norm"));
  // A scale of two is no gelu.
  auto scaled = importText(R"(
    g (float[4] x) => (float[4] y) {
      k = Constant <value = float {0.75}> ()
      one = Constant <value = float {1}> ()
      half = Constant <value = float {0.5}> ()
      d = Mul(x, k)
      e = Erf(d)
      f = Add(e, one)
      g = Mul(x, f)
      y = Mul(g, half)
    })");
  CHECK_THAT(scaled.text(), !Contains("nn.gelu"));
}
