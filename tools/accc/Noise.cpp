// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Noise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace accc;
using namespace accc::tool;

/// By how many floats the weights move in each run. The sums of many terms that a step computes are
/// off by some floats, too; and of few runs the farthest may by chance be close to the golden.
static constexpr int kDistances[] = {1, 2, 4, 8};

static Tensor moved(const Tensor &weights, int distance, std::mt19937_64 &engine) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Tensor result = weights.clone();
  uint64_t bits = 0;
  size_t left = 0;
  for (float &weight : result.data<float>()) {
    if (left-- == 0) {
      bits = engine();
      left = 63;
    }
    float towards = bits & 1 ? infinity : -infinity;
    bits >>= 1;
    // Beside zero there are only subnormals, which a session flushes.
    for (int i = 0; i < distance && weight != 0; ++i)
      weight = std::nextafter(weight, towards);
  }
  return result;
}

static TensorMap moveParameters(const Model &model, TensorMap variables, int distance) {
  std::mt19937_64 engine(static_cast<uint64_t>(distance));
  for (const accc_variable &variable : model.variables()) {
    auto found = variables.find(variable.tensor.name);
    if (variable.role == ACCC_PARAMETER && found != variables.end() &&
        found->second.dtype() == DType::f32)
      found->second = moved(found->second, distance, engine);
  }
  return variables;
}

Noise accc::tool::measureNoise(Session &session, const TensorMap &variables,
                               const TensorMap &inputs, TrajectoryOptions options,
                               const Trajectory &expected, const Naming &named) {
  // The same update as before, of parameters that are hardly others.
  options.gradients = &expected.gradients;
  const TensorMap right = named(expected);
  Noise noise;
  for (int distance : kDistances) {
    setVariables(session, moveParameters(session.model(), variables, distance));
    session.set_step(0);
    for (const auto &[name, tensor] : named(record(session, inputs, options)))
      if (auto golden = right.find(name); golden != right.end())
        noise[name] = std::max(noise[name], tool::distance(tensor, golden->second));
  }
  return noise;
}
