// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optimizers against torch.optim, through train_step and through grad_step and apply_step.
#include "training/optimizer/Optimizer.h"
#include "training/StepRunner.h"

#include <catch2/catch.hpp>

#include <cmath>

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

// sum((a b)^2)
const char *kMatrices = R"(
func.func @forward(
    %a: tensor<3x2xf64> {accc.name = "a", accc.role = #prim.role<parameter>},
    %b: tensor<2x4xf64> {accc.name = "b", accc.role = #prim.role<parameter>})
    -> (tensor<f64> {accc.name = "loss", accc.role = #prim.role<output>}) {
  %product = prim.dot_general %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>,
      lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
      : (tensor<3x2xf64>, tensor<2x4xf64>) -> tensor<3x4xf64>
  %square = prim.mul %product, %product : (tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
  %loss = prim.reduce sum %square {dimensions = array<i64: 0, 1>} : (tensor<3x4xf64>) -> tensor<f64>
  return %loss : tensor<f64>
})";

struct Row {
  const char *spec;
  std::vector<double> expected; // the parameters in their order, after steps at 0.1
  int steps = 4;
};
const Row kRows[] = {
#include "OptimizerRows.inc"
};
const Row kMatrixRows[] = {
#include "MatrixRows.inc"
};

Values start() {
  return {{"w", array({3}, {1.0, -0.5, 0.25})}, {"v", scalar(0.3)}, {"learning_rate", scalar(0.1)}};
}

Values startOfMatrices() {
  auto wave = [](llvm::ArrayRef<int64_t> shape) {
    std::vector<double> values;
    for (int64_t i = 0; i < shape[0] * shape[1]; ++i)
      values.push_back(2.0 * std::sin(1.7 * static_cast<double>(i)));
    return array(shape, values);
  };
  return {{"a", wave({3, 2})}, {"b", wave({2, 4})}, {"learning_rate", scalar(0.1)}};
}

/// Trains by train_step, and by grad_step and apply_step.
void check(const Row &row, const char *text, const Values &start,
           llvm::ArrayRef<const char *> parameters) {
  INFO(row.spec);
  Trainable model(text);
  model.mustMake({"output:loss", row.spec, {}});
  auto checkEnd = [&](const Values &values) {
    std::vector<double> found;
    for (const char *name : parameters)
      llvm::append_range(found, values.at(name).values);
    REQUIRE(found.size() == row.expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      CHECK(found[i] == Approx(row.expected[i]).epsilon(1e-6).margin(1e-7));
  };

  Values values = start;
  for (int step = 0; step < row.steps; ++step)
    model.run("train_step", values);
  checkEnd(values);

  Values split = start;
  for (int step = 0; step < row.steps; ++step) {
    for (auto &[name, gradient] : model.run("grad_step", split))
      split[name] = gradient;
    model.run("apply_step", split);
  }
  checkEnd(split);
}
} // namespace

TEST_CASE("optimizers are those of torch.optim") {
  for (const Row &row : kRows)
    check(row, kModel, start(), {"w", "v"});
  for (const Row &row : kMatrixRows)
    check(row, kMatrices, startOfMatrices(), {"a", "b"});
}

TEST_CASE("averages that keep nothing are what they were given last") {
  struct Kept {
    const char *spec, *state;
    double (*of)(double gradient);
  };
  auto itself = [](double gradient) { return gradient; };
  auto square = [](double gradient) { return gradient * gradient; };
  for (const Kept &kept : {Kept{"adam,beta1=0", "exp_avg", itself},
                           {"nadam,beta1=0", "exp_avg", itself},
                           {"radam,beta1=0", "exp_avg", itself},
                           {"adamax,beta1=0", "exp_avg", itself},
                           {"rmsprop,centered,alpha=0", "grad_avg", itself},
                           {"adafactor,beta2_decay=0", "variance", square}}) {
    INFO(kept.spec);
    Trainable model(kModel);
    TrainingOptions options{"output:loss", kept.spec, {}};
    options.average = "ema,decay=0";
    model.mustMake(options);
    Values values = start();
    values["w"].values.assign(3, 1e9); // beside the gradient of which nothing is left of the next
    model.run("train_step", values);
    values["w"].values.assign(3, 0.5);
    double gradient = model.run("grad_step", values).at("grad.w").values[0];
    model.run("train_step", values);
    CHECK(values.at(std::string("optimizer.") + kept.state + ".w").values[0] == kept.of(gradient));
    CHECK(values.at("optimizer.ema.w").values == values.at("w").values);
  }
}

TEST_CASE("gradients of several batches are added up and averaged") {
  Trainable model(kModel);
  TrainingOptions options{"output:loss", "sgd", {}};
  options.accumulates = true;
  model.mustMake(options);
  auto gradients = [&](double w) {
    Values values = start();
    values["w"].values.assign(3, w);
    return model.run("grad_step", values).at("grad.w").values[0];
  };
  Values values = start();
  for (double w : {1.0, 2.0, 4.0}) { // what else changes parameters between batches
    values["w"].values.assign(3, w);
    model.run("accumulate_step", values);
  }
  CHECK(values.at("optimizer.accumulated_batches").values[0] == 3);
  double mean = (gradients(1.0) + gradients(2.0) + gradients(4.0)) / 3;
  model.run("update_step", values);
  CHECK(values.at("w").values[0] == Approx(4.0 - 0.1 * mean));
  CHECK(values.at("optimizer.accumulated_batches").values[0] == 0);
  CHECK(values.at("optimizer.grad_sum.w").values == std::vector<double>(3, 0.0));

  Values before = values;
  model.run("update_step", values); // by nothing
  CHECK(values.at("w").values == before.at("w").values);
}

TEST_CASE("gradients that are not finite are no longer among the next ones") {
  Trainable model(kModel);
  TrainingOptions options{"output:loss", "sgd", {}};
  options.accumulates = true;
  options.lossScale = "dynamic,init_scale=4";
  model.mustMake(options);
  Values values = start();
  model.run("accumulate_step", values);
  values["w"].values[0] = std::numeric_limits<double>::infinity();
  model.run("accumulate_step", values);
  values["w"].values[0] = 1.0;
  Values before = values;
  model.run("update_step", values);
  CHECK(values.at("w").values == before.at("w").values);
  CHECK(values.at("optimizer.loss_scale").values[0] == 2);
  CHECK(values.at("optimizer.accumulated_batches").values[0] == 0);

  Values whole = values;
  model.run("train_step", whole);
  model.run("accumulate_step", values);
  model.run("update_step", values);
  CHECK(values.at("w").values == whole.at("w").values);
  CHECK(values.at("optimizer.growth_tracker").values[0] == 1);
}

TEST_CASE("averages follow the weights that updates leave") {
  for (bool warmsUp : {false, true}) {
    INFO((warmsUp ? "with" : "without") << " warmup");
    Trainable model(kModel);
    TrainingOptions options{"output:loss", "adam", {}};
    options.average = warmsUp ? "ema,decay=0.3,warmup" : "ema,decay=0.3";
    model.mustMake(options);
    Values values = start();
    CHECK(model.run("average_eval_step", values).at("loss").values[0] ==
          Approx(model.run("eval_step", values).at("loss").values[0]));
    std::vector<double> averages;
    for (int n = 0; n < 6; ++n) {
      model.run("train_step", values);
      double decay = n == 0 ? 0.0 : warmsUp ? std::min(0.3, (1.0 + n) / (10.0 + n)) : 0.3;
      averages.resize(3);
      for (size_t i = 0; i < 3; ++i) {
        averages[i] = decay * averages[i] + (1 - decay) * values.at("w").values[i];
        CHECK(values.at("optimizer.ema.w").values[i] == Approx(averages[i]).epsilon(1e-12));
      }
      CHECK(values.at("optimizer.n_averaged").values[0] == n + 1);
    }
    Values own = values;
    own["w"] = values.at("optimizer.ema.w");
    own["v"] = values.at("optimizer.ema.v");
    CHECK(model.run("average_eval_step", values).at("loss").values[0] ==
          Approx(model.run("eval_step", own).at("loss").values[0]).epsilon(1e-12));
  }
}

TEST_CASE("an optimizer of matrices refuses other parameters") {
  CHECK(Trainable(kModel).make({"output:loss", "muon", {}}) ==
        "error: --optimizer muon: it updates matrices, which 'w' and 1 other parameter are not; "
        "give them another optimizer, as in --param-group 'bias$' adamw\n");
  TrainingOptions options{"output:loss", "sgd", {}};
  options.groups = {{"^v$", "muon"}};
  CHECK(Trainable(kModel).make(options) ==
        "error: --param-group ^v$: it updates matrices, which 'v' is not; give it another "
        "optimizer, as in --param-group 'bias$' adamw\n");
}

TEST_CASE("specs of optimizers that make no sense are refused") {
  auto error = [](const char *spec) {
    auto optimizer = parseOptimizer(spec);
    return optimizer ? std::string() : llvm::toString(optimizer.takeError());
  };
  CHECK(error("sgd,lr=0.1,momentum=0.9") == "");
  CHECK(error("lbfgs") ==
        "--optimizer lbfgs: there is no optimizer 'lbfgs'; there are sgd, adam, adamw, nadam, "
        "radam, adamax, rmsprop, adagrad, adadelta, adafactor, lion, muon");
  CHECK(error("sgd,clip_grad_norm=1,clip_grad_value=1").find("are one or the other") !=
        std::string::npos);
  CHECK(error("muon,ns_steps=100") ==
        "--optimizer muon,ns_steps=100: ns_steps must be between 0 and 99, and is 100");
  CHECK(error("sgd,nesterov") ==
        "--optimizer sgd,nesterov: nesterov needs a momentum and no dampening");
  CHECK(error("adam,beta1=1") ==
        "--optimizer adam,beta1=1: 'beta1' must be at least 0 and less than 1, and is 1");
  CHECK(error("adafactor,beta2_decay=1") ==
        "--optimizer adafactor,beta2_decay=1: 'beta2_decay' must be at most 0, and is 1");
  CHECK(error("adam,momentum=0.9").find("there is no option 'momentum'; adam knows beta1=NUMBER") !=
        std::string::npos);
  CHECK(error("adam=3") == "--optimizer adam=3: the name of an optimizer takes no value");
  CHECK(
      error("sgd,momentum=fast,momentum=1,=2") ==
      "--optimizer sgd,momentum=fast,momentum=1,=2: option 'momentum' is given twice; an option is "
      "missing its name; 'momentum' needs a number, as in momentum=0");
}
