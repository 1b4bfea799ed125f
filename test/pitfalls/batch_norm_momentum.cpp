// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The momentum of batch normalisation, which is 1 - m in another system, and on which the output
// once depended; the running variance, biased or not; one element a channel.
#include "Trained.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;

namespace {
struct Statistics {
  std::vector<double> mean, variance;
};

/// Of each channel of [n, channels, inner].
Statistics statisticsOf(const ReferenceArray &x, int64_t channels, int64_t inner) {
  Statistics result;
  int64_t count = x.size() / channels;
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < x.size(); ++i)
      if (i / inner % channels == c)
        sum += x.values[i];
    double mean = sum / static_cast<double>(count);
    for (int64_t i = 0; i < x.size(); ++i)
      if (i / inner % channels == c)
        squares += (x.values[i] - mean) * (x.values[i] - mean);
    result.mean.push_back(mean);
    result.variance.push_back(squares / static_cast<double>(count));
  }
  return result;
}

TrainedModel batchNorm(const ReferenceArray &x, const std::string &momentum,
                       const std::string &variance = "biased") {
  std::string shape;
  for (int64_t extent : x.shape)
    shape += (shape.empty() ? "float[" : ",") + std::to_string(extent);
  shape += "]";
  TrainedModel model{"g (" + shape + " x, float[3] s, float[3] b) => (" + shape +
                         " y) <float[3] m = {1, 2, 3}, float[3] v = {4, 5, 6}>"
                         " { y, m2, v2 = BatchNormalization <training_mode = 1, momentum = " +
                         momentum + "> (x, s, b, m, v) }",
                     {{"x", x}, {"s", array({3}, {0.5, 1, -2})}, {"b", array({3}, {0, 1, 2})}}};
  model.options.runningVariance = variance;
  return model;
}
} // namespace

TEST_CASE("batch_norm_momentum: changes running statistics alone") {
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{4, 3}, {2, 3, 5}, {3, 3, 7, 9}, {1, 3, 1, 700}}) {
    INFO("rank " << shape.size());
    int64_t inner = 1;
    for (size_t d = 2; d < shape.size(); ++d)
      inner *= shape[d];
    const ReferenceArray x = spread(shape, -2, 5);
    Statistics batch = statisticsOf(x, 3, inner);
    std::vector<Training> trainings;
    for (double momentum : {0.0, 0.5, 0.9, 1.0}) {
      INFO("momentum " << momentum);
      Training training = trainAsInterpreted(batchNorm(x, std::to_string(momentum)), 1e-5);
      std::vector<double> mean, variance;
      for (int c = 0; c < 3; ++c) {
        mean.push_back(momentum * (c + 1) + (1 - momentum) * batch.mean[c]);
        variance.push_back(momentum * (c + 4) + (1 - momentum) * batch.variance[c]);
      }
      checkNear(training.updated("m"), mean);
      checkNear(training.updated("v"), variance);
      trainings.push_back(std::move(training));
    }
    for (const Training &training : trainings) {
      checkEqual(training.output("y"), trainings.front().output("y").values);
      for (const char *name : {"x", "s", "b"})
        checkEqual(training.gradient(name), trainings.front().gradient(name).values);
    }
  }
}

TEST_CASE("batch_norm_momentum: the running variance is as was asked for") {
  const ReferenceArray x = spread({4, 3}, -2, 5);
  Statistics batch = statisticsOf(x, 3, 1);
  for (const char *which : {"biased", "unbiased"}) {
    INFO(which);
    double factor = which == std::string("biased") ? 1 : 4.0 / 3;
    Training training = trainAsInterpreted(batchNorm(x, "0.75", which), 1e-5);
    std::vector<double> expected;
    for (int c = 0; c < 3; ++c)
      expected.push_back(0.75 * (c + 4) + 0.25 * factor * batch.variance[c]);
    checkNear(training.updated("v"), expected);
  }
}

TEST_CASE(
    "batch_norm_momentum: one element a channel gives the bias, and nothing that is not finite") {
  for (const char *which : {"biased", "unbiased"}) {
    INFO(which);
    Training training = trainAsInterpreted(batchNorm(spread({1, 3}, -2, 5), "0.5", which));
    checkEqual(training.output("y"), {0, 1, 2});
    checkEqual(training.gradient("x"), {0, 0, 0});
    checkFinite(training.gradient("s"));
    checkFinite(training.updated("m"));
    checkFinite(training.updated("v"));
  }
}

TEST_CASE("batch_norm_momentum: a channel whose elements are equal has finite gradients") {
  ReferenceArray x = spread({4, 3}, -2, 5);
  for (int64_t i = 0; i < 12; i += 3)
    x.values[i] = 1000;
  Training training = trainAsInterpreted(batchNorm(x, "0.9"), 1e-4);
  for (const char *name : {"x", "s", "b"})
    checkFinite(training.gradient(name));
}
