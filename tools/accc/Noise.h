// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much of what a library computes is decided by rounding.
#ifndef ACCC_TOOLS_ACCC_NOISE_H
#define ACCC_TOOLS_ACCC_NOISE_H

#include "Trajectory.h"

#include <functional>
#include <map>
#include <string>

namespace accc::tool {

/// By the name of a tensor, the RMSE between a run and runs that are as right as it is, of which
/// the farthest counts.
using Noise = std::map<std::string, double>;

/// The tensors of a trajectory by names of which each is one tensor's.
using Naming = std::function<TensorMap(const Trajectory &)>;

/// Runs the session again, as it gave `expected` from `variables` at step 0, from parameters of
/// which every f32 is moved by some floats, up or down by chance. What rounding decides, such
/// as the gradient of a bias in front of a batch normalisation, is as far apart in these runs as in
/// two that compute the same in different orders; what it does not decide stays where it is.
/// Source: `--moved` of scripts/sweep (docs/correctness.md, "Sensitivity to rounding").
Noise measureNoise(Session &session, const TensorMap &variables, const TensorMap &inputs,
                   TrajectoryOptions options, const Trajectory &expected, const Naming &named);

} // namespace accc::tool

#endif
