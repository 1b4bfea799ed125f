// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reverse walk: what it visits, sums and leaves alone.
#include "ir/nn/Nn.h"
#include "reference/interpreter/GradientCheck.h"
#include "training/StepFunction.h"
#include "training/StepRunner.h"
#include "training/autodiff/Differentiate.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {
/// @forward of parameters a, b (2 elements, f64) and an input i (integers); `body` computes %y.
std::string model(const std::string &body) {
  return R"(
func.func @forward(%a: tensor<2xf64> {accc.name = "a", accc.role = #prim.role<parameter>},
                   %b: tensor<2xf64> {accc.name = "b", accc.role = #prim.role<parameter>},
                   %i: tensor<2xi64> {accc.name = "i", accc.role = #prim.role<input>})
    -> (tensor<f64> {accc.name = "loss", accc.role = #prim.role<output>}) {
)" + body +
         R"(
  %loss = prim.reduce sum %y {dimensions = array<i64: 0>} : (tensor<2xf64>) -> tensor<f64>
  return %loss : tensor<f64>
})";
}

Values inputs() {
  return {{"a", array({2}, {0.5, -2})}, {"b", array({2}, {3, 0.25})}, {"i", array({2}, {1, 0})}};
}

std::vector<double> gradient(Trainable &model, const std::string &name) {
  Values values = inputs();
  return model.run("grad_step", values).at("grad." + name).values;
}

const char *kPair = " : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>\n";
} // namespace

TEST_CASE("the gradient of a value is the sum over its uses") {
  // a * a + a * b + a, with a used five times
  Trainable trainable(model(std::string("%0 = prim.mul %a, %a") + kPair + "%1 = prim.mul %a, %b" +
                            kPair + "%2 = prim.add %0, %1" + kPair + "%y = prim.add %2, %a" +
                            kPair));
  trainable.mustMake({"output:loss", "", {}});
  CHECK(gradient(trainable, "a") == std::vector<double>{2 * 0.5 + 3 + 1, 2 * -2 + 0.25 + 1});
  CHECK(gradient(trainable, "b") == std::vector<double>{0.5, -2});
}

TEST_CASE(
    "a parameter that reaches the loss through jumps, or is overwritten, has a gradient of zeros") {
  // As in PyTorch: weight decay changes it.
  for (const char *op : {"prim.floor %b", "prim.ceil %b", "prim.round_even %b", "prim.sign %b",
                         "nn.zero_dependence %a, %b"}) {
    bool isOfOne = !StringRef(op).contains(',');
    Trainable trainable(model("%0 = " + std::string(op) +
                              (isOfOne ? " : (tensor<2xf64>) -> tensor<2xf64>\n" : kPair) +
                              "%y = prim.mul %a, %0" + kPair));
    CHECK(trainable.make({"output:loss", "sgd,weight_decay=0.5", {}}) ==
          "warning: node 'b': the gradient of the parameter is always zero: the parameter reaches "
          "the loss only through rounding, signs, what is overwritten or the like\n");
    Values values = inputs();
    values["learning_rate"] = scalar(1);
    trainable.run("train_step", values);
    CHECK(values["b"].values == std::vector<double>{1.5, 0.125});
    CHECK(gradient(trainable, "b") == std::vector<double>{0, 0});
  }
}

TEST_CASE("a parameter that does not reach the loss is not trained") {
  // b matters only through a comparison.
  Trainable trainable(
      model(std::string("%0 = prim.compare gt %b, %a : (tensor<2xf64>, tensor<2xf64>) -> "
                        "tensor<2xi1>\n%1 = prim.convert %0 : (tensor<2xi1>) -> tensor<2xf64>\n") +
            "%y = prim.mul %a, %1" + kPair));
  CHECK(trainable.make({"output:loss", "sgd", {}}) ==
        "warning: node 'b': the parameter does not reach the loss, and is not trained\n");
  Values values = inputs();
  CHECK(trainable.run("grad_step", values).count("grad.b") == 0);
  CHECK(gradient(trainable, "a") == std::vector<double>{1, 1});
}

TEST_CASE("a frozen parameter has no gradient and no state") {
  std::string text = model(std::string("%y = prim.mul %a, %b") + kPair);
  Trainable trainable(text);
  trainable.mustMake({"output:loss", "sgd,momentum=0.9", {"^b$"}});
  Values values = inputs();
  values["learning_rate"] = scalar(1);
  Values results = trainable.run("train_step", values);
  CHECK(results.count("b") == 0);
  CHECK(values.count("optimizer.momentum_buffer.a") == 1);
  CHECK(values.count("optimizer.momentum_buffer.b") == 0);
  CHECK(values["a"].values == std::vector<double>{-2.5, -2.25});

  Trainable tied(text);
  CHECK(tied.make({"output:loss", "", {"^head$"}, {{"b", {"head"}}}}).empty());
  Values same = inputs();
  CHECK(tied.run("grad_step", same).count("grad.b") == 0);

  CHECK(Trainable(text).make({"output:loss", "", {"c"}}) ==
        "warning: --freeze c: no parameter has such a name\n");
  CHECK(Trainable(text).make({"output:loss", "", {"a|b"}}) ==
        "error: there is nothing to train: no parameter that is not frozen reaches the loss\n");
}

TEST_CASE("integers carry no gradient") {
  // a[i] + convert(convert(a))
  Trainable trainable(model(
      std::string("%0 = prim.gather %a, %i {axis = 0 : i64} : (tensor<2xf64>, tensor<2xi64>) -> "
                  "tensor<2xf64>\n%1 = prim.convert %b : (tensor<2xf64>) -> tensor<2xi64>\n%2 = "
                  "prim.convert %1 : (tensor<2xi64>) -> tensor<2xf64>\n") +
      "%y = prim.mul %0, %2" + kPair));
  CHECK(trainable.make({"output:loss", "", {}}) ==
        "warning: node 'b': the parameter does not reach the loss, and is not trained\n");
  CHECK(gradient(trainable, "a") == std::vector<double>{0, 3}); // a[1] * 3 + a[0] * 0
}

TEST_CASE("ops without derivative are named, all at once, and only where they matter") {
  context().allowUnregisteredDialects();
  auto strange = [](const char *name, const char *operand) {
    return std::string("%") + name + " = \"strange.op\"(%" + operand +
           ") : (tensor<2xf64>) -> tensor<2xf64> loc(\"" + name + "\")\n";
  };
  Trainable trainable(model(strange("u", "a") + strange("v", "b") +
                            "%c = prim.convert %i : (tensor<2xi64>) -> tensor<2xf64>\n" +
                            strange("w", "c") + "%0 = prim.mul %u, %v" + kPair +
                            "%y = prim.mul %0, %w" + kPair));
  std::vector<Problem> problems =
      checkTrainable(trainable.get(), TrainingOptions{"output:loss", "sgd", {}});
  std::vector<Problem> more =
      checkTrainable(trainable.get(), TrainingOptions{"output:losss", "sgd,momentum=x", {}});
  context().allowUnregisteredDialects(false);
  REQUIRE(more.size() == 4); // a wrong loss and a wrong optimizer hide neither
  CHECK(more[0].fault == Fault::Usage);
  CHECK_THAT(more[1].message, Catch::Matchers::Contains("did you mean 'loss'?"));
  CHECK(more[2].node == "u");
  CHECK(more[3].node == "v");
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].node == "u");
  CHECK(problems[1].node == "v");
  CHECK(problems[0].message ==
        "'strange.op' has no derivative, and lies between a trained parameter "
        "and the loss");
}

TEST_CASE("derivatives of a function agree with finite differences") {
  Trainable trainable(model(
      std::string("%0 = prim.tanh %a : (tensor<2xf64>) -> tensor<2xf64>\n%1 = nn.relu %b : "
                  "(tensor<2xf64>) -> tensor<2xf64>\n%2 = prim.div %0, %1") +
      kPair + "%3 = prim.exp %2 : (tensor<2xf64>) -> tensor<2xf64>\n%y = prim.mul %3, %a" + kPair));
  trainable.mustMake({"output:loss", "", {}});
  Values values = inputs();
  Values results = trainable.run("grad_step", values);
  for (const char *name : {"a", "b"})
    for (int i = 0; i < 2; ++i) {
      const double step = 1e-6;
      double losses[2];
      for (int side = 0; side < 2; ++side) {
        Values moved = inputs();
        moved[name].values[i] += side ? step : -step;
        losses[side] = trainable.run("eval_step", moved).at("loss").values[0];
      }
      CHECK(results.at(std::string("grad.") + name).values[i] ==
            Approx((losses[1] - losses[0]) / (2 * step)).epsilon(1e-5));
    }
}
