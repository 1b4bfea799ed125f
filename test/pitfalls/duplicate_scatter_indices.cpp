// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several updates of one element: updates were lost, or summed in an order of their own in each
// run.
#include "Trained.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;

namespace {
ReferenceArray indices(std::vector<int64_t> shape, int64_t extent) {
  ReferenceArray result(shape);
  for (int64_t i = 0; i < result.size(); ++i)
    result.values[i] = static_cast<double>(i * i % extent);
  return result;
}

int runs() { return testsCuda() ? 5 : 100; }

/// Every output and gradient has the same bits in every run, with one thread and with two.
void checkRepeats(const TrainedModel &trained) {
  INFO(trained.graph);
  CompiledModel model(trained);
  std::map<std::string, Tensor> first;
  for (int threads : {1, 2}) {
    Session session = model.session({.learning_rate = 1, .threads = threads});
    for (int run = 0; run < runs(); ++run) {
      Result result = session.run("grad_step", model.inputs);
      int different = 0;
      for (const auto &[name, tensor] : result.tensors())
        if (auto [known, isNew] = first.try_emplace(std::string(name), tensor.clone()); !isNew)
          different += !sameBits(known->second, tensor);
      CHECK(different == 0);
    }
  }
}
} // namespace

TEST_CASE("duplicate_scatter_indices: updates of one element are all added, in the same order in "
          "each run") {
  for (const char *body : {"y = ScatterND <reduction = \"add\"> (x, i, u)",
                           "y = ScatterND <reduction = \"mul\"> (x, i, u)"}) {
    TrainedModel model{"g (float[7,5] x, int64[300,1] i, float[300,5] u) => (float[7,5] y) { " +
                           std::string(body) + " }",
                       {{"x", spread({7, 5}, 0.9, 1.1)}, {"u", spread({300, 5}, 0.9, 1.1, 2)}},
                       {{"i", indices({300, 1}, 7)}},
                       {},
                       {},
                       18};
    trainAsInterpreted(model, 1e-5);
    checkRepeats(model);
  }
}

TEST_CASE("duplicate_scatter_indices: of the elements of a row") {
  for (const char *reduction : {"add", "max", "min"}) {
    TrainedModel model{"g (float[4,9] x, int64[4,200] i, float[4,200] u) => (float[4,9] y) { y = "
                       "ScatterElements <axis = 1, "
                       "reduction = \"" +
                           std::string(reduction) + "\"> (x, i, u) }",
                       {{"x", spread({4, 9})}, {"u", spread({4, 200}, -1, 1, 2)}},
                       {{"i", indices({4, 200}, 9)}},
                       {},
                       {},
                       18};
    trainAsInterpreted(model, 1e-5);
    checkRepeats(model);
  }
}

TEST_CASE("duplicate_scatter_indices: the gradient of an embedding whose rows are read often") {
  for (int64_t rows : {1, 3, 1000}) {
    TrainedModel model{"g (float[" + std::to_string(rows) +
                           ",24] w, int64[40,25] i) => (float[40,25,24] y) { y = Gather(w, i) }",
                       {{"w", spread({rows, 24})}},
                       {{"i", indices({40, 25}, rows)}}};
    trainAsInterpreted(model, 1e-5);
    checkRepeats(model);
  }
}

TEST_CASE("duplicate_scatter_indices: where updates replace, the last one stays") {
  TrainedModel model{
      "g (float[3,2] x, int64[5,1] i, float[5,2] u) => (float[3,2] y) { y = ScatterND(x, i, u) }",
      {{"x", spread({3, 2})}, {"u", array({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})}},
      {{"i", array({5, 1}, {0, 1, 0, 1, 0})}}};
  Training training = train(model);
  const ReferenceArray &y = training.output("y");
  checkNear(y, {9, 10, 7, 8, y.values[4], y.values[5]}, 0);
  checkRepeats(model);
}
