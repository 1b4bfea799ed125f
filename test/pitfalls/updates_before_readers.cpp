// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parameters updated in place while something still reads their old value. Every compilation proves
// that none are (lib/schedule/verify); here models that tempt it: the loss, an output or another
// gradient needs a parameter that the last step overwrites.
#include "Trained.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;

namespace {
/// The first train_step is grad_step and apply_step, to the bit, and so are its outputs.
void checkTogether(const TrainedModel &model) {
  INFO(model.graph);
  Training training = trainAsInterpreted(model, 1e-5);
  for (const auto &[key, values] : training.library) {
    llvm::StringRef name = key;
    if (!name.consume_front("train_step 1 "))
      continue;
    INFO(key);
    auto apart = training.library.find(("apply_step " + name).str());
    if (apart == training.library.end())
      apart = training.library.find(("grad_step " + name).str());
    REQUIRE(apart != training.library.end());
    checkEqual(values, apart->second.values);
  }
}
} // namespace

TEST_CASE("updates_before_readers: a parameter that is also an output") {
  for (const char *optimizer : {"sgd", "adam"}) {
    TrainedModel model{
        R"(g (float[33] x, float[33] w) => (float[33] y, float[33] copy, float[11,3] view) {
                            y = Mul(x, w)
                            copy = Identity(w)
                            shape = Constant <value = int64[2] {11, 3}> ()
                            view = Reshape(w, shape)
                          })",
        {{"w", spread({33})}},
        {{"x", spread({33}, -1, 1, 2)}}};
    model.options.optimizers = {optimizer};
    Training training = trainAsInterpreted(model, 1e-5);
    for (const char *name : {"copy", "view"})
      checkEqual(training.library.at("train_step 1 " + std::string(name)), spread({33}).values);
    checkTogether(model);
  }
}

TEST_CASE("updates_before_readers: parameters that each other's gradients need") {
  std::string body = "h0 = Identity(x) ", arguments = "float[8,8] x";
  Values parameters;
  for (int i = 0; i < 5; ++i) {
    std::string n = std::to_string(i), next = std::to_string(i + 1);
    arguments += ", float[8,8] w" + n;
    parameters["w" + n] = spread({8, 8}, -1, 1, 10 + i);
    body +=
        "a" + n + " = MatMul(h" + n + ", w" + n + ") h" + next + " = Mul(a" + n + ", w" + n + ") ";
  }
  for (const char *optimizer : {"sgd", "sgd,momentum=0.9,nesterov", "adamw"}) {
    TrainedModel model{"g (" + arguments + ") => (float[8,8] y) { " + body + "y = Tanh(h5) }",
                       parameters,
                       {{"x", spread({8, 8})}}};
    model.options.optimizers = {optimizer};
    checkTogether(model);
  }
}

TEST_CASE("updates_before_readers: one parameter in many places, transposed and sliced") {
  TrainedModel model{R"(g (float[6,6] x, float[6,6] w) => (float[6,6] y, float[2,6] z) {
                          t = Transpose <perm = [1, 0]> (w)
                          a = MatMul(x, w)
                          b = MatMul(a, t)
                          c = Add(b, w)
                          y = Mul(c, t)
                          from = Constant <value = int64[1] {1}> ()
                          to = Constant <value = int64[1] {3}> ()
                          axes = Constant <value = int64[1] {0}> ()
                          z = Slice(w, from, to, axes)
                        })",
                     {{"w", spread({6, 6})}},
                     {{"x", spread({6, 6}, -1, 1, 2)}}};
  for (const char *optimizer : {"sgd", "adam"}) {
    model.options.optimizers = {optimizer};
    checkTogether(model);
  }
}

TEST_CASE("updates_before_readers: running statistics that the same step reads") {
  TrainedModel model{"g (float[4,3] x, float[3] s, float[3] b) => (float[4,3] y, float[3] old) "
                     "<float[3] m = {1, 2, 3}, float[3] v = {4, 5, 6}>"
                     " { n, m2, v2 = BatchNormalization <training_mode = 1> (x, s, b, m, v) old = "
                     "Identity(m) y = Add(n, m) }",
                     {{"s", spread({3})}, {"b", spread({3}, -1, 1, 2)}},
                     {{"x", spread({4, 3}, -1, 1, 3)}}};
  Training training = trainAsInterpreted(model, 1e-5);
  checkEqual(training.library.at("train_step 1 old"), {1, 2, 3});
}
