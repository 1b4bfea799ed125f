// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Noise.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

using namespace accc;
using namespace accc::tool;

/// By how many steps the weights move in each run. The sums of many terms that a step computes are
/// off by some floats, too; and of few runs the farthest may by chance be close to the golden.
static constexpr int32_t kDistances[] = {1, 2, 4, 8};

/// How many floats a step is: to the next, or as far as an eighth of the last place of bf16, where
/// products round the weights to it.
static int32_t floatsOfStep(const Model &model) {
  auto manifest = nlohmann::json::parse(model.description().manifest, nullptr, false);
  bool isMixed = manifest.is_object() && manifest.value("precision", "fp32") == "bf16";
  return isMixed ? 1 << 13 : 1;
}

static Tensor moved(const Tensor &weights, int32_t distance, std::mt19937_64 &engine) {
  Tensor result = weights.clone();
  uint64_t bits = 0;
  size_t left = 0;
  for (float &weight : result.data<float>()) {
    if (left-- == 0) {
      bits = engine();
      left = 63;
    }
    bool isUp = bits & 1;
    bits >>= 1;
    // Beside zero there are only subnormals, which a session flushes.
    if (!std::isnormal(weight))
      continue;
    // Sign and magnitude: floats of one sign are in order.
    auto place = std::bit_cast<int32_t>(weight);
    weight = std::bit_cast<float>(place + (isUp == (weight > 0) ? distance : -distance));
  }
  return result;
}

static TensorMap moveParameters(const Model &model, TensorMap variables, int32_t distance) {
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
  for (int32_t steps : kDistances) {
    int32_t distance = steps * floatsOfStep(session.model());
    setVariables(session, moveParameters(session.model(), variables, distance));
    session.set_step(0);
    for (const auto &[name, tensor] : named(record(session, inputs, options)))
      if (auto golden = right.find(name); golden != right.end())
        noise[name] = std::max(noise[name], tool::distance(tensor, golden->second));
  }
  return noise;
}
