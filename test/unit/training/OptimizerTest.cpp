// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optimizers against torch.optim, through train_step and through grad_step and apply_step.
#include "training/optimizer/Optimizer.h"
#include "training/StepRunner.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;

namespace {
// sum(w^4) / 4 + v * sum(w)
const char *kModel = R"(
func.func @forward(
    %w: tensor<3xf64> {accc.name = "w", accc.role = #prim.role<parameter>},
    %v: tensor<f64> {accc.name = "v", accc.role = #prim.role<parameter>})
    -> (tensor<f64> {accc.name = "loss", accc.role = #prim.role<output>}) {
  %square = prim.mul %w, %w : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  %fourth = prim.mul %square, %square : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  %sum = prim.reduce sum %fourth {dimensions = array<i64: 0>} : (tensor<3xf64>) -> tensor<f64>
  %quarter = prim.constant dense<0.25> : tensor<f64>
  %first = prim.mul %sum, %quarter : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %ws = prim.reduce sum %w {dimensions = array<i64: 0>} : (tensor<3xf64>) -> tensor<f64>
  %second = prim.mul %v, %ws : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %loss = prim.add %first, %second : (tensor<f64>, tensor<f64>) -> tensor<f64>
  return %loss : tensor<f64>
})";

struct Row {
  const char *spec;
  std::vector<double> expected; // w, then v, after four steps at 0.1
};
const Row kRows[] = {
#include "OptimizerRows.inc"
};

Values start() {
  return {{"w", array({3}, {1.0, -0.5, 0.25})}, {"v", scalar(0.3)}, {"learning_rate", scalar(0.1)}};
}

void check(const Row &row, const Values &values) {
  std::vector<double> found = values.at("w").values;
  found.push_back(values.at("v").values[0]);
  for (size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(row.expected[i]).epsilon(1e-6).margin(1e-7));
}
} // namespace

TEST_CASE("optimizers are those of torch.optim") {
  for (const Row &row : kRows) {
    INFO(row.spec);
    Trainable model(kModel);
    model.mustMake({"output:loss", row.spec, {}});

    Values values = start();
    for (int step = 0; step < 4; ++step)
      model.run("train_step", values);
    check(row, values);

    Values split = start();
    for (int step = 0; step < 4; ++step) {
      for (auto &[name, gradient] : model.run("grad_step", split))
        split[name] = gradient;
      model.run("apply_step", split);
    }
    check(row, split);
  }
}

TEST_CASE("specs of optimizers that make no sense are refused") {
  auto error = [](const char *spec) {
    auto optimizer = parseOptimizer(spec);
    return optimizer ? std::string() : llvm::toString(optimizer.takeError());
  };
  CHECK(error("sgd,lr=0.1,momentum=0.9") == "");
  CHECK(error("lion") ==
        "--optimizer lion: there is no optimizer 'lion'; there are sgd, adam, adamw, rmsprop, "
        "adagrad");
  CHECK(error("sgd,nesterov") ==
        "--optimizer sgd,nesterov: nesterov needs a momentum and no dampening");
  CHECK(error("adam,beta1=1") ==
        "--optimizer adam,beta1=1: 'beta1' must be between 0 and 1, and is 1");
  CHECK(error("adam,momentum=0.9").find("there is no option 'momentum'; adam knows beta1=NUMBER") !=
        std::string::npos);
  CHECK(error("adam=3") == "--optimizer adam=3: the name of an optimizer takes no value");
  CHECK(
      error("sgd,momentum=fast,momentum=1,=2") ==
      "--optimizer sgd,momentum=fast,momentum=1,=2: option 'momentum' is given twice; an option is "
      "missing its name; 'momentum' needs a number, as in momentum=0");
}
