// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NaN and infinities where a mask hides them: a mask that multiplies makes NaN of them, one that
// chooses does not, forward or backward.
#include "Trained.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace accc;
using namespace accc::test;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = NAN;

/// `x`, in which what is not seen is not finite.
ReferenceArray spoilt(ReferenceArray x, const std::vector<double> &seen) {
  const double bad[] = {kNaN, kInfinity, -kInfinity};
  for (size_t i = 0; i < seen.size(); ++i)
    if (seen[i] == 0)
      x.values[i] = bad[i % 3];
  return x;
}

void checkHidden(const Training &training, const std::vector<double> &seen) {
  checkFinite(training.output("y"));
  checkFinite(training.gradient("x"));
  for (size_t i = 0; i < seen.size(); ++i)
    if (seen[i] == 0)
      CHECK(training.gradient("x").values[i] == 0);
}

const std::vector<double> kSeen = {1, 0, 1, 0, 0, 1, /**/ 0, 1, 1, 1, 0, 0};
} // namespace

TEST_CASE("nan_behind_masks: Where hides what is not finite, and its gradient is zero") {
  const ReferenceArray x = spread({2, 6}, 0.5, 2), seen = array({2, 6}, kSeen);
  for (const char *body : {
           "y = Where(seen, x, zero)",
           "a = Where(seen, x, zero) y = Mul(a, a)",
           "a = Where(seen, x, zero) y = Softmax(a)",
           "hidden = Not(seen) y = Where(hidden, zero, x)",
           "a = Where(seen, x, one) y = Log(a)",
           "a = Where(seen, x, one) b = Sqrt(a) y = Where(seen, b, zero)",
       }) {
    INFO(body);
    Training training = trainAsInterpreted(
        {"g (float[2,6] x, bool[2,6] seen) => (float[2,6] y) {"
         " zero = Constant <value = float {0}> () one = Constant <value = float {1}> () " +
             std::string(body) + " }",
         {{"x", spoilt(x, kSeen)}},
         {{"seen", seen}}});
    checkHidden(training, kSeen);
  }
}

TEST_CASE("nan_behind_masks: a gradient that is not finite ends at the mask") {
  ReferenceArray cotangent = spoilt(spread({2, 6}), kSeen);
  Training training = trainAsInterpreted(
      {"g (float[2,6] x, bool[2,6] seen) => (float[2,6] y) {"
       " a = Mul(x, x) zero = Constant <value = float {0}> () y = Where(seen, a, zero) }",
       {{"x", spread({2, 6})}},
       {{"seen", array({2, 6}, kSeen)}},
       {{"y", cotangent}}});
  checkFinite(training.gradient("x"));
  for (size_t i = 0; i < kSeen.size(); ++i)
    if (kSeen[i] == 0)
      CHECK(training.gradient("x").values[i] == 0);
}

TEST_CASE("nan_behind_masks: keys that no query sees") {
  // Scores are replaced, not multiplied: what they were has no effect on values or on the gradients
  // of queries and values; the last key and the last query's row are hidden.
  ReferenceArray k = spread({1, 1, 5, 4}, -1, 1, 3);
  for (int64_t i = 16; i < 20; ++i)
    k.values[i] = kInfinity;
  ReferenceArray seen({3, 5}, 1);
  for (int64_t row = 0; row < 3; ++row)
    seen.values[row * 5 + 4] = 0;
  Training training = trainAsInterpreted(
      {R"(g (float[1,1,3,4] q, float[1,1,5,4] k, float[1,1,5,4] v, bool[3,5] seen) => (float[1,1,3,4] y) {
            kt = Transpose <perm = [0, 1, 3, 2]> (k)
            s = MatMul(q, kt)
            low = Constant <value = float {-1e9}> ()
            m = Where(seen, s, low)
            p = Softmax(m)
            y = MatMul(p, v)
          })",
       {{"v", spread({1, 1, 5, 4}, -1, 1, 4)}},
       {{"q", spread({1, 1, 3, 4}, -1, 1, 2)}, {"k", k}, {"seen", seen}}});
  checkFinite(training.output("y"));
  checkFinite(training.gradient("v"));
}

TEST_CASE("nan_behind_masks: rows that the loss ignores") {
  ReferenceArray x = spread({4, 3});
  x.values[3] = kNaN;
  x.values[4] = kInfinity;
  x.values[9] = -kInfinity;
  CompileOptions options;
  options.losses = {"cross_entropy,ignore_index=-100"};
  Training training = train({"g (float[4,3] x) => (float[4,3] y) { y = Identity(x) }",
                             {{"x", x}},
                             {{"target", array({4}, {0, -100, 2, -100})}},
                             {},
                             options});
  INFO(training.error);
  checkFinite(training.output("loss"));
  const ReferenceArray &gradient = training.gradient("x");
  for (int64_t i : {3, 4, 5, 9, 10, 11}) {
    INFO(i << ": " << gradient.values[i]);
    CHECK(gradient.values[i] == 0);
  }
  for (int64_t i : {0, 1, 2, 6, 7, 8})
    CHECK(std::isfinite(gradient.values[i]));
}
