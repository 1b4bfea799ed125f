// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a step gives and what it trains as the input of the next one (the state of a recurrent
// network, a sample that is refined): memory that a step writes while it still reads it.
#include "Trained.h"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace accc;
using namespace accc::test;

namespace {
const TrainedModel recurrent = {
    "g (float[8,8] x, float[8,8] h, float[8,8] w) => (float[8,8] next) { p = MatMul(h, w) "
    "s = Add(p, x) t = Tanh(s) q = MatMul(t, w) next = Add(q, h) }",
    {{"w", spread({8, 8})}},
    {{"x", spread({8, 8}, -1, 1, 2)}, {"h", spread({8, 8}, -1, 1, 3)}}};

/// The last result of some runs, each of which has as `h` what `choose` takes from the run before.
template <typename Choose>
Tensor lastOf(const CompiledModel &model, const std::string &entry, Choose choose) {
  Session session = model.session({.learning_rate = 0.1f, .threads = 1});
  TensorMap inputs = model.inputs;
  Tensor last;
  for (int i = 0; i < 4; ++i) {
    Result result = session.run(entry, inputs);
    last = result["next"].clone();
    inputs.insert_or_assign("h", choose(session, result));
  }
  return last;
}

void checkShared(const CompiledModel &model) {
  for (const char *entry : {"train_step", "grad_step", "eval_step"}) {
    INFO(entry);
    auto output = [](Session &, const Result &result) { return result["next"]; };
    auto copied = [](Session &, const Result &result) { return result["next"].clone(); };
    CHECK(sameBits(lastOf(model, entry, output), lastOf(model, entry, copied)));
    auto variable = [](Session &session, const Result &) { return session.variable("w"); };
    auto value = [](Session &session, const Result &) { return session.variable("w").clone(); };
    CHECK(sameBits(lastOf(model, entry, variable), lastOf(model, entry, value)));
  }
}
} // namespace

TEST_CASE("outputs_as_inputs: results and variables may be the next step's inputs") {
  CompiledModel model(recurrent);
  REQUIRE(model.error == "");
  checkShared(model);
  ::setenv("ACCC_POISON", "1", 1); // outputs are NaN when a step begins
  checkShared(model);
  ::unsetenv("ACCC_POISON");
}
