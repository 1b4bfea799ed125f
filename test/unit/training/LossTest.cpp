// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses and their gradients against torch.nn.functional.
#include "training/loss/Loss.h"
#include "training/StepRunner.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace accc;
using namespace accc::test;

namespace {
struct Row {
  const char *spec;
  std::vector<int64_t> shape;
  std::vector<double> target;
  double loss;
  std::vector<double> gradient;
};
const Row kRows[] = {
#include "LossRows.inc"
};

/// A model whose output is its parameter.
std::string identityModel(llvm::ArrayRef<int64_t> shape) {
  std::string type = "tensor<";
  for (int64_t extent : shape)
    type += std::to_string(extent) + "x";
  type += "f64>";
  return "func.func @forward(%x: " + type +
         " {accc.name = \"x\", accc.role = #prim.role<parameter>}) -> (" + type +
         " {accc.name = \"y\", accc.role = #prim.role<output>}) {\n  return %x : " + type + "\n}";
}

/// expected.py's data.
std::vector<double> wave(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(2 * std::sin(1.7 * static_cast<double>(i)));
  return values;
}
} // namespace

TEST_CASE("losses and their gradients are those of torch") {
  for (const Row &row : kRows) {
    INFO(row.spec << " of rank " << row.shape.size());
    Trainable model(identityModel(row.shape));
    model.mustMake({row.spec, "", {}});
    int64_t count = ReferenceArray::count(row.shape);
    ReferenceArray target;
    target.shape.assign({static_cast<int64_t>(row.target.size())});
    target.values = row.target;
    bool sameShape = static_cast<int64_t>(row.target.size()) == count;
    if (sameShape)
      target.shape.assign(row.shape.begin(), row.shape.end());
    else if (row.shape.size() == 3)
      target.shape.assign({2, 2});
    else if (row.shape.size() == 1)
      target.shape.clear();
    Values values = {{"x", array(row.shape, wave(count))}, {"target", target}};

    Values results = model.run("grad_step", values);
    CHECK(results.at("loss").values[0] == Approx(row.loss).epsilon(1e-9));
    const std::vector<double> &gradient = results.at("grad.x").values;
    REQUIRE(gradient.size() == row.gradient.size());
    for (size_t i = 0; i < gradient.size(); ++i)
      CHECK(gradient[i] == Approx(row.gradient[i]).epsilon(1e-9).margin(1e-12));
    CHECK(model.run("eval_step", values).at("loss").values[0] == Approx(row.loss).epsilon(1e-9));
  }
}

TEST_CASE("a binary cross entropy takes probabilities") {
  Trainable model(identityModel({2}));
  model.mustMake({"bce", "", {}});
  Values values = {{"x", array({2}, {0.25, 0.5})}, {"target", array({2}, {0.0, 1.0})}};
  Values results = model.run("grad_step", values);
  CHECK(results.at("loss").values[0] == Approx(-(std::log(0.75) + std::log(0.5)) / 2));
  CHECK(results.at("grad.x").values[0] == Approx(0.5 / 0.75));
  CHECK(results.at("grad.x").values[1] == Approx(-0.5 / 0.5));
}

TEST_CASE("a loss of one element is one, whatever its shape") {
  Trainable model(identityModel({1, 1}));
  model.mustMake({"output:y", "", {}});
  Values values = {{"x", array({1, 1}, {2.5})}};
  Values results = model.run("grad_step", values);
  CHECK(results.at("loss").shape.empty());
  CHECK(results.at("loss").values[0] == 2.5);
  CHECK(results.at("grad.x").shape.size() == 2);
  CHECK(results.at("grad.x").values[0] == 1);
}

TEST_CASE("specs of losses that make no sense are refused") {
  auto error = [](const char *spec) {
    auto loss = parseLoss(spec);
    return loss ? std::string() : llvm::toString(loss.takeError());
  };
  CHECK(error("cross_entropy=logits,ignore_index=-1") == "");
  CHECK(error("output:loss") == "");
  CHECK(error("output:") == "--loss output: needs the name of an output, as in output:loss");
  CHECK(
      error("hinge") ==
      "--loss hinge: there is no loss 'hinge'; there are cross_entropy, nll, mse, l1, "
      "smooth_l1, huber, bce, bce_with_logits, and output:NAME for a loss that the model computes");
  CHECK(error("mse,label_smoothing=0.1") ==
        "--loss mse,label_smoothing=0.1: there is no option 'label_smoothing'; mse knows none");
  CHECK(error("cross_entropy,label_smoothing=2") ==
        "--loss cross_entropy,label_smoothing=2: 'label_smoothing' must be between 0 and 1, and is "
        "2");
  CHECK(error("cross_entropy,probabilities,ignore_index=0") ==
        "--loss cross_entropy,probabilities,ignore_index=0: 'ignore_index' is a class, and the "
        "target holds probabilities");
  CHECK(error("smooth_l1,beta=-1") ==
        "--loss smooth_l1,beta=-1: 'beta' must be at least 0, and is -1");
  CHECK(error("huber,delta=0") == "--loss huber,delta=0: 'delta' must be greater than 0, and is 0");
  CHECK(error("cross_entropy,weight=no/such/file").find("cannot be read") != std::string::npos);
  CHECK(error("cross_entropy,weight=1:1e39").find("must fit into floats, and '1e39' does not") !=
        std::string::npos);
  CHECK(error("cross_entropy,weight=/dev/null").find("'/dev/null' of 'weight' holds no numbers") !=
        std::string::npos);
}

TEST_CASE("a loss that does not fit its output is refused") {
  auto problems = [](llvm::ArrayRef<int64_t> shape, const char *loss) {
    return Trainable(identityModel(shape)).make({loss, "", {}});
  };
  CHECK(problems({2, 3}, "cross_entropy,weight=1:2") ==
        "error: node 'y': the loss has 2 class weights for 3 classes\n");
  CHECK(
      problems({2, 3, 4}, "cross_entropy,probabilities") ==
      "error: node 'y': the scores 'tensor<2x3x4xf64>' can be [N, C, d] or [N, d, C], and a target "
      "of probabilities does not tell them apart; say which in --loss: class_dim=1, or "
      "class_dim=2\n");
  CHECK(problems({2, 3}, "bce_with_logits,pos_weight=1:2") ==
        "error: node 'y': the loss has 2 positive weights for 3 classes, the last dimension of "
        "'tensor<2x3xf64>'\n");
  CHECK(problems({2, 3}, "mse=z") == "error: --loss names the output 'z', and the model has 'y'\n");
  CHECK(problems({2, 3}, "output:y") ==
        "error: node 'y': --loss output:y needs a scalar float, and it is 'tensor<2x3xf64>'\n");
  CHECK(problems({}, "cross_entropy").find("needs float scores of shape [N, C, ...]") !=
        std::string::npos);
}
