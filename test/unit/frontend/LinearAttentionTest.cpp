// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LinearAttention in chunks computes what one position after the other computes.
#include "ModelGradients.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace accc;
using namespace accc::test;

namespace {

constexpr int64_t kBatch = 2, kHeads = 2, kKeys = 2, kValues = 3, kQueries = 2; // for each head

struct Case {
  std::string rule;
  int64_t positions;
  bool ofKeys; // the decay is that of each key
  bool isGated() const { return rule.find("gated") == 0; }
  bool corrects() const { return rule.find("delta") != std::string::npos; }
  int64_t decays() const { return ofKeys ? kKeys : 1; }
};

/// A model of the output `y`, or of the state that is left.
std::string model(const Case &c, bool ofState) {
  std::string t = std::to_string(c.positions), g = std::to_string(kHeads * c.decays());
  std::string inputs =
      "g (float[2," + t + ",8] q, float[2," + t + ",4] k, float[2," + t + ",6] v, float[2,2,2,3] s";
  inputs += c.isGated() ? ", float[2," + t + "," + g + "] g" : "";
  inputs += c.corrects() ? ", float[2," + t + ",2] b" : "";
  std::string result = ofState ? "float[2,2,2,3] y" : "float[2," + t + ",12] y";
  return inputs + ") => (" + result + ") { " + (ofState ? "other, y" : "y, other") +
         " = LinearAttention <q_num_heads = 4, kv_num_heads = 2, scale = 1.0, update_rule = \"" +
         c.rule + "\"> (q, k, v, s, " + (c.isGated() ? "g" : "") + ", " +
         (c.corrects() ? "b" : "") + ") }";
}

Inputs inputsOf(const Case &c) {
  Inputs inputs = {{"q", random({kBatch, c.positions, kHeads * kQueries * kKeys})},
                   {"k", random({kBatch, c.positions, kHeads * kKeys})},
                   {"v", random({kBatch, c.positions, kHeads * kValues})},
                   {"s", random({kBatch, kHeads, kKeys, kValues})}};
  if (c.isGated())
    inputs.insert({"g", random({kBatch, c.positions, kHeads * c.decays()}, -0.5, 0)});
  if (c.corrects())
    inputs.insert({"b", random({kBatch, c.positions, kHeads}, 0, 1)});
  return inputs;
}

/// y and the state that is left, position by position.
std::pair<ReferenceArray, ReferenceArray> expected(const Case &c, const Inputs &inputs) {
  int64_t positions = c.positions;
  ReferenceArray y({kBatch, positions, kHeads * kQueries * kValues}), state = inputs.at("s");
  auto number = [&](const char *name, int64_t n, int64_t t, int64_t i, int64_t width) {
    return inputs.at(name).values[(n * positions + t) * width + i];
  };
  for (int64_t n = 0; n < kBatch; ++n)
    for (int64_t h = 0; h < kHeads; ++h)
      for (int64_t t = 0; t < positions; ++t)
        for (int64_t j = 0; j < kValues; ++j) {
          double *s = &state.values[(n * kHeads + h) * kKeys * kValues + j]; // of each kValues-th
          double known = 0;
          for (int64_t i = 0; i < kKeys; ++i) {
            if (c.isGated())
              s[i * kValues] *= std::exp(
                  number("g", n, t, h * c.decays() + (c.ofKeys ? i : 0), kHeads * c.decays()));
            known += s[i * kValues] * number("k", n, t, h * kKeys + i, kHeads * kKeys);
          }
          double u = number("v", n, t, h * kValues + j, kHeads * kValues);
          if (c.corrects())
            u = (u - known) * number("b", n, t, h, kHeads);
          for (int64_t i = 0; i < kKeys; ++i)
            s[i * kValues] += number("k", n, t, h * kKeys + i, kHeads * kKeys) * u;
          for (int64_t r = 0; r < kQueries; ++r) {
            double &read = y.values[(n * positions + t) * kHeads * kQueries * kValues +
                                    (h * kQueries + r) * kValues + j];
            for (int64_t i = 0; i < kKeys; ++i)
              read += s[i * kValues] *
                      number("q", n, t, (h * kQueries + r) * kKeys + i, kHeads * kQueries * kKeys);
          }
        }
  return {y, state};
}

} // namespace

TEST_CASE("LinearAttention: chunks of many positions, the last one short") {
  for (const Case &c :
       {Case{"linear", 130, false}, Case{"gated", 70, false}, Case{"gated", 37, true},
        Case{"delta", 70, false}, Case{"gated_delta", 130, false}, Case{"gated_delta", 37, true}}) {
    INFO(c.rule << " of " << c.positions << " positions");
    Inputs inputs = inputsOf(c);
    auto [y, state] = expected(c, inputs);
    checkClose(resultOf(model(c, /*ofState=*/false), inputs, 27), y);
    checkClose(resultOf(model(c, /*ofState=*/true), inputs, 27), state);
  }
}

TEST_CASE("LinearAttention: a decay of -inf forgets all before") {
  Case c{"gated_delta", 20, true};
  Inputs inputs = inputsOf(c);
  for (int64_t i = 0; i < kHeads * kKeys; ++i)
    inputs.at("g").values[5 * kHeads * kKeys + i] = -INFINITY;
  checkClose(resultOf(model(c, /*ofState=*/true), inputs, 27), expected(c, inputs).second);
}

TEST_CASE("LinearAttention: gradients") {
  Case c{"gated_delta", 18, true};
  Inputs inputs = inputsOf(c);
  checkGradients(model(c, /*ofState=*/false), inputs, {"q", "k", "v", "s", "g", "b"}, 27);
  checkGradients(model(c, /*ofState=*/true), inputs, {"k", "v", "s", "g", "b"}, 27);
}
