// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Noise.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <random>
#include <span>

using namespace accc;
using namespace accc::tool;

/// By how many steps the weights move in each run. The sums of many terms that a step computes are
/// off by some floats, too; and of few runs the farthest may by chance be close to the golden.
static constexpr int32_t kDistances[] = {1, 2, 4, 8};

/// How many floats a step is: to the next, or as far as an eighth of the last place of the 16-bit
/// float to which products round the weights.
static int32_t floatsOfStep(const Model &model) {
  auto manifest = nlohmann::json::parse(model.description().manifest, nullptr, false);
  std::string precision = manifest.is_object() ? manifest.value("precision", "fp32") : "fp32";
  return precision == "bf16" ? 1 << 13 : precision == "fp16" ? 1 << 10 : 1;
}

/// `places` are the bits of floats: sign and magnitude, so that those of one sign are in order.
/// `exponent` masks those of the exponent.
template <typename Place>
static void move(std::span<Place> places, Place exponent, int32_t distance,
                 std::mt19937_64 &engine) {
  uint64_t bits = 0;
  size_t left = 0;
  for (Place &place : places) {
    if (left-- == 0) {
      bits = engine();
      left = 63;
    }
    bool isUp = bits & 1, isPositive = place >= 0;
    bits >>= 1;
    // Beside zero there are only subnormals, which a session flushes.
    auto power = static_cast<Place>(place & exponent);
    if (power != 0 && power != exponent)
      place = static_cast<Place>(place + (isUp == isPositive ? distance : -distance));
  }
}

static Tensor moved(const Tensor &weights, int32_t distance, std::mt19937_64 &engine) {
  Tensor result = weights.clone();
  auto size = static_cast<size_t>(result.size());
  if (weights.dtype() == DType::f32)
    move<int32_t>({static_cast<int32_t *>(result.raw()), size}, 0x7f800000, distance, engine);
  // Of 16 bits the next float is far enough.
  if (weights.dtype() == DType::bf16)
    move<int16_t>({static_cast<int16_t *>(result.raw()), size}, 0x7f80, 1, engine);
  if (weights.dtype() == DType::f16)
    move<int16_t>({static_cast<int16_t *>(result.raw()), size}, 0x7c00, 1, engine);
  return result;
}

static TensorMap moveParameters(const Model &model, TensorMap variables, int32_t distance) {
  std::mt19937_64 engine(static_cast<uint64_t>(distance));
  for (const accc_variable &variable : model.variables()) {
    auto found = variables.find(variable.tensor.name);
    if (variable.role == ACCC_PARAMETER && found != variables.end())
      found->second = moved(found->second, distance, engine);
  }
  return variables;
}

Noise accc::tool::measureNoise(Session &session, const TensorMap &variables,
                               const TensorMap &inputs, TrajectoryOptions options,
                               const Trajectory &expected, const Naming &named) {
  // The same update as before, of parameters that are hardly others; by gradients of their own
  // where those of the run are not known.
  if (!expected.gradients.empty())
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
