// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cross entropy of which every label is ignored: a mean of nothing, whose gradient must not be
// NaN; and labels that are no class.
#include "Trained.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {
TrainedModel model(const std::string &loss, const std::vector<double> &labels) {
  auto count = static_cast<int64_t>(labels.size());
  std::string shape = "float[" + std::to_string(count) + ",3]";
  TrainedModel model{"g (" + shape + " x, " + shape + " w) => (" + shape + " y) { y = Mul(x, w) }",
                     {{"w", spread({count, 3})}},
                     {{"x", spread({count, 3}, -1, 1, 2)}, {"target", array({count}, labels)}}};
  model.options.losses = {loss};
  return model;
}
} // namespace

TEST_CASE(
    "every_label_ignored: the mean of no losses is NaN, as in PyTorch, and its gradient zero") {
  for (const char *loss : {"cross_entropy,ignore_index=-100", "nll,ignore_index=-100",
                           "cross_entropy,ignore_index=-100,label_smoothing=0.1"}) {
    INFO(loss);
    Training training = trainAsInterpreted(model(loss, {-100, -100}));
    CHECK(std::isnan(training.output("loss").values[0]));
    checkEqual(training.gradient("w"), std::vector<double>(6, 0));
    // The step that follows leaves the parameter as it is.
    checkEqual(training.updated("w"), spread({2, 3}).values);
  }
}

TEST_CASE("every_label_ignored: some labels ignored: a mean over the others") {
  for (const char *loss : {"cross_entropy,ignore_index=-100", "nll,ignore_index=-100",
                           "cross_entropy,ignore_index=1"}) {
    INFO(loss);
    double ignored = std::string(loss).find("-100") != std::string::npos ? -100 : 1;
    Training some = trainAsInterpreted(model(loss, {0, ignored, 2, ignored}));
    Training rest = trainAsInterpreted(model(loss, {0, 2, 2, 0}));
    const std::vector<double> &gradient = some.gradient("w").values;
    for (int i : {3, 4, 5, 9, 10, 11})
      CHECK(gradient[i] == 0);
    // The first row has the same gradient, but for the number of rows that it is divided by.
    for (int i : {0, 1, 2})
      CHECK(gradient[i] == Approx(2 * rest.gradient("w").values[i]));
  }
}

TEST_CASE(
    "every_label_ignored: a label that is no class is an error, and the step changes nothing") {
  for (double label : {3.0, -1.0, -101.0, 1e9}) {
    INFO(label);
    CompiledModel compiled(model("cross_entropy,ignore_index=-100", {0, label, -100}));
    std::string error = compiled.failureOf("train_step", "w");
    CHECK_THAT(error, Contains("target[1]"));
  }
}

TEST_CASE("every_label_ignored: the operators of ONNX") {
  for (const char *body :
       {"y = SoftmaxCrossEntropyLoss <ignore_index = -1, reduction = \"mean\"> (x, t)",
        "l = LogSoftmax <axis = 1> (x) y = NegativeLogLikelihoodLoss <ignore_index = -1> (l, t)",
        "y = SoftmaxCrossEntropyLoss <ignore_index = -1, reduction = \"sum\"> (x, t)"}) {
    INFO(body);
    std::string graph = "g (float[2,3] x, int64[2] t) => (float y) { " + std::string(body) + " }";
    Training none =
        trainAsInterpreted({graph, {{"x", spread({2, 3})}}, {{"t", array({2}, {-1, -1})}}});
    bool isSum = std::string(body).find("sum") != std::string::npos;
    checkEqual(none.output("y"), {isSum ? 0 : NAN});
    checkEqual(none.gradient("x"), std::vector<double>(6, 0));
    checkFinite(trainAsInterpreted({graph, {{"x", spread({2, 3})}}, {{"t", array({2}, {-1, 2})}}})
                    .gradient("x"));
  }
}
