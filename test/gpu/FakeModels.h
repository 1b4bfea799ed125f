// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled models written by hand (test/unit/runtime/fake_model.c), and what tests do with them.
// The numbers are such that every sum is exact, so that results are those of the CPU bit by bit.
#ifndef ACCC_TEST_GPU_FAKEMODELS_H
#define ACCC_TEST_GPU_FAKEMODELS_H

#include "FakeModel.h"

#include <cmath>
#include <string>
#include <vector>

namespace accc::test {

/// A batch whose data differs from step to step.
inline TensorMap batchOf(int step) {
  TensorMap result = batch();
  for (float &value : result.at("x").data<float>())
    value += float(step);
  return result;
}

/// Half of batch(), for "sizes".
inline TensorMap smallBatch() {
  return {{"x", batch().at("x").rows(0, 2)}, {"target", batch().at("target").rows(0, 2)}};
}

/// Data at fault: "target[0] is not a number".
inline TensorMap badBatch() {
  TensorMap bad = batch();
  bad.at("target").data<float>()[0] = NAN;
  return bad;
}

inline SessionOptions options(bool graph = true) {
  SessionOptions result;
  result.learning_rate = 0.125f;
  result.graph = graph;
  return result;
}

inline std::vector<float> values(const Tensor &tensor) {
  auto data = tensor.data<float>();
  return {data.begin(), data.end()};
}

/// All of the state.
inline std::vector<float> state(Session &session) {
  std::vector<float> all;
  for (const char *name :
       {"linear.weight", "linear.bias", "velocity.linear.weight", "velocity.linear.bias"})
    for (float value : values(session.variable(name)))
      all.push_back(value);
  return all;
}

/// Losses of runs of "sizes" that take turns in sizes and entry points: read one by one, or when
/// all have been started.
inline std::vector<float> takeTurns(Session &session, bool oneByOne) {
  std::vector<Result> results;
  for (int i = 0; i < 2; ++i)
    for (const TensorMap &each : {batchOf(i), smallBatch()})
      for (const char *entry : {"grad_step", "train_step"}) {
        results.push_back(session.run(entry, each));
        if (oneByOne)
          results.back().wait();
      }
  std::vector<float> losses;
  for (const Result &result : results)
    losses.push_back(result.loss());
  return losses;
}

/// Losses of some steps, and the state after them.
inline std::vector<float> train(Session &session, int steps = 5) {
  std::vector<float> all;
  for (int i = 0; i < steps; ++i)
    all.push_back(session.run("train_step", batch()).loss());
  auto after = state(session);
  all.insert(all.end(), after.begin(), after.end());
  return all;
}

} // namespace accc::test

#endif // ACCC_TEST_GPU_FAKEMODELS_H
