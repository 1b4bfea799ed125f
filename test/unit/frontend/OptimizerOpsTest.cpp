// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps of optimizers in a graph, beyond ONNX's node tests, which are all of the first step.
#include "ModelText.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {
/// What a node of ai.onnx.preview.training makes of one element.
std::map<std::string, double> stepped(const std::string &op, double count, bool hasTwoStates) {
  std::string states = hasTwoStates ? ", float[1] v, float[1] h" : ", float[1] v";
  std::string names = hasTwoStates ? "v, h" : "v", news = hasTwoStates ? "y, w, k" : "y, w";
  std::string graph = "g (float r, int64 t, float[1] x, float[1] d" + states +
                      ") => (float[1] y) { " + news + " = ai.onnx.preview.training." + op +
                      "(r, t, x, d, " + names + ") }";
  auto model = importText(graph);
  INFO(model.problems());
  auto results = model.run({{"r", array({}, {0.1})},
                            {"t", array({}, {count})},
                            {"x", array({1}, {1})},
                            {"d", array({1}, {2})},
                            {"v", array({1}, {3})},
                            {"h", array({1}, {4})}});
  std::map<std::string, double> numbers;
  for (const auto &[name, value] : results)
    numbers[name] = value.values[0];
  return numbers;
}
} // namespace

TEST_CASE("Adam corrects its rate once there were steps") {
  double v = 0.9 * 3 + 0.1 * 2, h = 0.999 * 4 + 0.001 * 4;
  double rate = 0.1 * std::sqrt(1 - std::pow(0.999, 3)) / (1 - std::pow(0.9, 3));
  double moved = 1 - rate * v / (std::sqrt(h) + 1e-6);
  CHECK(stepped("Adam", 3, true)["y"] == Approx(moved));
  CHECK(stepped("Adam<norm_coefficient_post = 0.25>", 3, true)["y"] == Approx(0.75 * moved));
}

TEST_CASE("Adagrad's rate decays, and a momentum's beta begins with the second step") {
  CHECK(stepped("Adagrad<decay_factor = 0.5>", 2, false)["y"] ==
        Approx(1 - 0.05 * 2 / (std::sqrt(7) + 1e-6)));
  const char *standard =
      "Momentum<alpha = 0.5, beta = 0.25, norm_coefficient = 1.0, mode = \"standard\">";
  CHECK(stepped(standard, 0, false)["y"] == Approx(1 - 0.1 * (1.5 + 3)));
  CHECK(stepped(standard, 1, false)["y"] == Approx(1 - 0.1 * (1.5 + 0.25 * 3)));
}

TEST_CASE("inputs of an optimizer that do not belong together") {
  auto problem = [](const std::string &inputs) {
    return importText("g (float r, int64 t, float[1] x, float[2] d) => (float[1] y) {"
                      " y, w = ai.onnx.preview.training.Adagrad(" +
                      inputs + ") }")
        .problems();
  };
  CHECK_THAT(problem("r, t, x, x"), Contains("takes R, T and 3 tensors for each parameter"));
  CHECK_THAT(problem("r, t, x, d, x"),
             Contains("G_1 has the shape [2] or another element type than X_1"));
}
