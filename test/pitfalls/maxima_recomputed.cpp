// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A maximum's gradient goes to the elements that are equal to it. Computed again by a kernel that
// adds in another order, none is: the gradient is divided by their number, 0.
#include "Trained.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;

TEST_CASE("maxima_recomputed: a maximum is found among its elements under every memory budget") {
  // The first kernel adds up two things, with more to compute than one that adds up the first
  // alone. The gradient looks for the maxima of those last, behind some layers.
  constexpr int kLayers = 4;
  std::string body = "one = Constant <value = int64[1] {1}> () last = Constant <value = int64[1] "
                     "{2}> () rows = Unsqueeze(x, one) product = Mul(rows, p) h = Atan(product) "
                     "a = ReduceSum<keepdims = 0>(h, last) most = ReduceMax<axes = [0]>(a) "
                     "t = Tanh(h) s = Sin(h) ts = Mul(t, s) e = Exp(ts) et = Mul(e, t) "
                     "b = ReduceSum<keepdims = 0>(et, last) y0 = Mul(b, most) ";
  for (int i = 0; i < kLayers; ++i) {
    std::string n = std::to_string(i), next = std::to_string(i + 1);
    body += "z" + n + " = MatMul(y" + n + ", w) y" + next + " = Tanh(z" + n + ") ";
  }
  TrainedModel model{"g (float[128,64] x, float[64,64] p, float[64,64] w) => (float[128,64] y) { " +
                         body + "y = Identity(y" + std::to_string(kLayers) + ") }",
                     {{"p", spread({64, 64}, -1, 1, 2)}, {"w", spread({64, 64}, -0.1, 0.1, 3)}},
                     {{"x", spread({128, 64})}}};
  Training whole = trainAsInterpreted(model, 1e-5);
  trainWithin(model, 480000, 10000, [&](const Training &training) {
    for (const char *parameter : {"p", "w"})
      checkNear(training.gradient(parameter), whole.gradient(parameter).values);
  });
}
