// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dropout whose backward pass draws another mask than its forward pass: the loss falls, to
// something else. Masks are read from where ones come out, forward and backward.
#include "Trained.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace accc;
using namespace accc::test;

namespace {
std::string dropout(const std::string &y, const std::string &x) {
  return y + " = Dropout(" + x + ", ratio, yes) ";
}

const std::string kConstants =
    "ratio = Constant <value = float {0.3}> () yes = Constant <value = bool {1}> () ";
} // namespace

TEST_CASE("dropout_masks_recomputed: the gradient of ones is the output of ones") {
  for (const char *shape : {"7", "16,64", "3,5,37", "4,9000"}) {
    INFO(shape);
    std::string type = "float[" + std::string(shape) + "]";
    std::vector<int64_t> extents;
    for (llvm::StringRef rest = shape; !rest.empty();) {
      int64_t extent = 0;
      rest.consumeInteger(10, extent);
      extents.push_back(extent);
      rest.consume_front(",");
    }
    Training training = trainAsInterpreted(
        {"g (" + type + " x) => (" + type + " y) { " + kConstants + dropout("y", "x") + " }",
         {{"x", filled(extents, 1)}},
         {},
         {{"y", filled(extents, 1)}}});
    checkEqual(training.gradient("x"), training.output("y").values);
  }
}

TEST_CASE(
    "dropout_masks_recomputed: as many are kept as the ratio says, anew in each step and place") {
  constexpr int64_t kCount = 20000;
  CompiledModel model({"g (float[20000] x) => (float[20000] y, float[20000] z) { " + kConstants +
                           dropout("y", "x") + dropout("z", "x") + " }",
                       {{"x", filled({kCount}, 1)}}});
  Session session = model.session();
  std::vector<std::vector<double>> masks;
  for (int64_t step = 0; step < 3; ++step) {
    session.set_step(step);
    Result result = session.run("grad_step", model.inputs);
    for (const char *name : {"y", "z"})
      masks.push_back(numbersOf(result[name]));
  }
  constexpr double kKeep = 0.7;
  for (const std::vector<double> &mask : masks) {
    double kept = 0;
    for (double value : mask) {
      CHECK_FALSE((value != 0 && std::abs(value - 1 / kKeep) > 1e-6));
      kept += value != 0;
    }
    // Within four standard deviations.
    CHECK(std::abs(kept - kKeep * kCount) < 4 * std::sqrt(kCount * kKeep * (1 - kKeep)));
  }
  for (size_t i = 0; i < masks.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      double both = 0;
      for (int64_t k = 0; k < kCount; ++k)
        both += masks[i][k] != 0 && masks[j][k] != 0;
      INFO("masks " << i << " and " << j);
      CHECK(std::abs(both - kKeep * kKeep * kCount) < 4 * std::sqrt(kCount * 0.49 * 0.51));
    }
}

TEST_CASE("dropout_masks_recomputed: the same gradients under every memory budget") {
  // A chain whose values are kept for the backward pass unless they are computed again.
  std::string body = kConstants + "h0 = Identity(x) ";
  for (int i = 0; i < 4; ++i) {
    std::string h = "h" + std::to_string(i), n = "h" + std::to_string(i + 1), k = std::to_string(i);
    body += "a" + k + " = MatMul(" + h + ", w) b" + k + " = Tanh(a" + k + ") " +
            dropout("d" + k, "b" + k) + "e" + k + " = Mul(d" + k + ", d" + k + ") " + n +
            " = Sin(e" + k + ") ";
  }
  TrainedModel model{"g (float[64,48] x, float[48,48] w) => (float[64,48] y) { " + body +
                         "y = Identity(h4) }",
                     {{"w", spread({48, 48}, -0.3, 0.3)}},
                     {{"x", spread({64, 48})}}};
  Training whole = trainAsInterpreted(model, 1e-5);
  trainWithin(model, 260000, 20000, [&](const Training &training) {
    for (const auto &[key, values] : whole.library) {
      INFO(key);
      checkEqual(training.library.at(key), values.values);
    }
  });
}
