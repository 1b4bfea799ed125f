// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gradient that is infinite or NaN. There is no loss scale yet that would skip the step: as in
// PyTorch without one the update is done, all of it or nothing, in train_step as in apply_step.
#include "Trained.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace accc;
using namespace accc::test;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TrainedModel model(const std::string &optimizer, double cotangent) {
  TrainedModel model{
      "g (float[4] a, float[4] b) => (float[4] y, float[4] z) { y = Mul(a, a) z = Mul(b, b) }",
      {{"a", array({4}, {1, 2, 3, 4})}, {"b", array({4}, {1, 2, 3, 4})}},
      {},
      {{"y", array({4}, {1, cotangent, 1, 0})}, {"z", filled({4}, 1)}}};
  model.options.optimizers = {optimizer};
  return model;
}
} // namespace

TEST_CASE(
    "gradients_that_overflow: an element whose gradient is not finite, and no other, is lost") {
  for (const char *optimizer :
       {"sgd", "sgd,momentum=0.9", "adam", "adamw,weight_decay=0.01", "sgd,nesterov,momentum=0.5"})
    for (double bad : {kInfinity, -kInfinity, std::nan("")}) {
      INFO(optimizer << " with " << bad);
      Training training = trainAsInterpreted(model(optimizer, bad), 1e-5);
      CHECK_FALSE(std::isfinite(training.gradient("a").values[1]));
      for (int64_t i = 0; i < 4; ++i) {
        INFO("element " << i);
        CHECK(std::isfinite(training.updated("a").values[i]) == (i != 1));
        CHECK(std::isfinite(training.updated("b").values[i]));
      }
    }
}

TEST_CASE("gradients_that_overflow: clipping by the norm spreads it to all parameters, in both "
          "ways to step") {
  for (double bad : {kInfinity, std::nan("")}) {
    INFO(bad);
    Training training = train(model("adam,clip_grad_norm=1", bad));
    INFO(training.error);
    for (const char *name : {"a", "b"}) {
      const ReferenceArray &whole = training.updated(name),
                           &half = training.library.at("apply_step new " + std::string(name));
      for (int64_t i = 0; i < 4; ++i)
        CHECK(std::isnan(whole.values[i]) == std::isnan(half.values[i]));
      CHECK(std::isnan(whole.values[1]) == (name[0] == 'a' || std::isnan(bad)));
    }
  }
}

TEST_CASE("gradients_that_overflow: products that overflow are infinite, sums that cancel are NaN, "
          "and neither hangs") {
  Training training =
      train({"g (float[3] x) => (float[3] y) { a = Mul(x, x) b = Mul(a, x) y = Sub(b, a) }",
             {{"x", array({3}, {1e30, -1e30, 2})}}});
  const std::vector<double> &y = training.library.at("grad_step y").values;
  CHECK_FALSE(std::isfinite(y[0]));
  CHECK(y[2] == 4);
}
