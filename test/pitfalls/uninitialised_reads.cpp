// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that is read before it is written. Every test of this folder runs with scratch memory and
// outputs full of NaN; here results must not depend on what was there, whatever is run before.
#include "Trained.h"

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace accc;
using namespace accc::test;

namespace {
const std::vector<TrainedModel> &models() {
  static const std::vector<TrainedModel> all = {
      {"g (float[2,3,7,9] x, float[3,4,3,2] w) => (float[2,4,13,16] y) { y = ConvTranspose "
       "<strides = [2,2], pads = [1,1,1,1]> (x, w) }",
       {{"x", spread({2, 3, 7, 9})}, {"w", spread({3, 4, 3, 2}, -1, 1, 2)}}},
      {"g (float[2,3,7,9] x, float[5,3,3,3] w, float[5] b) => (float[2,5,4,5] y) { c = Conv "
       "<strides = [2,2], pads = [1,1,1,1]> (x, w, b) "
       "y = Relu(c) }",
       {{"x", spread({2, 3, 7, 9})},
        {"w", spread({5, 3, 3, 3}, -1, 1, 2)},
        {"b", spread({5}, -1, 1, 3)}}},
      {"g (float[5,700] x, float[700] s, float[700] b) => (float[5,700] y) { n = "
       "LayerNormalization <axis = -1> (x, s, b) y = Softmax(n) }",
       {{"x", spread({5, 700})}, {"s", spread({700}, -1, 1, 2)}, {"b", spread({700}, -1, 1, 3)}}},
      {"g (float[50,7] w, int64[33] i) => (float[33,7] y) { y = Gather(w, i) }",
       {{"w", spread({50, 7})}},
       {{"i", filled({33}, 4)}}},
      {"g (float[1,2,9,9] x) => (float[1,2,3,3] y) { y = MaxPool <kernel_shape = [2,2], strides = "
       "[4,4], pads = [1,1,1,1]> (x) }",
       {{"x", spread({1, 2, 9, 9})}}},
      {"g (float[40000] x) => (float y, float[40000] z) { y = ReduceSum <keepdims = 0> (x) zero = "
       "Constant <value = int64 {0}> () z = CumSum(x, zero) }",
       {{"x", spread({40000})}}},
      {"g (float[300,9] a, float[9,65] b) => (float[300,65] y) { y = MatMul(a, b) }",
       {{"a", spread({300, 9})}, {"b", spread({9, 65}, -1, 1, 2)}}},
  };
  return all;
}

std::map<std::string, Tensor> resultsOf(Session &session, const CompiledModel &model) {
  std::map<std::string, Tensor> results;
  for (const char *entry : {"grad_step", "eval_step", "train_step"})
    for (const auto &[name, tensor] : session.run(entry, model.inputs).tensors())
      results.insert_or_assign(std::string(entry) + " " + std::string(name), tensor.clone());
  return results;
}
} // namespace

TEST_CASE("uninitialised_reads: results are the same whatever memory held before") {
  for (const TrainedModel &trained : models()) {
    INFO(trained.graph);
    CompiledModel model(trained);
    std::vector<std::map<std::string, Tensor>> found;
    for (bool poisoned : {false, true}) {
      if (poisoned)
        ::setenv("ACCC_POISON", "1", 1);
      Session session = model.session();
      found.push_back(resultsOf(session, model));
      ::unsetenv("ACCC_POISON");
    }
    for (const auto &[name, tensor] : found[0]) {
      INFO(name);
      CHECK(sameBits(tensor, found[1].at(name)));
    }
  }
}

TEST_CASE("uninitialised_reads: results with memory full of NaN are the interpreter's") {
  for (const TrainedModel &model : models())
    trainAsInterpreted(model, 1e-5);
}

TEST_CASE("uninitialised_reads: a step after others, in a session that has run everything, is as "
          "the first") {
  for (const TrainedModel &trained : models()) {
    INFO(trained.graph);
    CompiledModel model(trained);
    Session fresh = model.session(), used = model.session();
    std::map<std::string, Tensor> variables;
    for (const auto &[name, value] : trained.parameters)
      variables.insert_or_assign(name, used.variable(name).clone());
    resultsOf(used, model);
    for (const auto &[name, value] : variables)
      used.set_variable(name, value);
    std::map<std::string, Tensor> first = resultsOf(fresh, model), later = resultsOf(used, model);
    for (const auto &[name, tensor] : first) {
      INFO(name);
      CHECK(sameBits(tensor, later.at(name)));
    }
  }
}
