// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The subcommands of gpu_runner that accc does not have. They print a line of JSON for each thing
// measured or compared, as soon as that is done.
#ifndef ACCC_TOOLS_GPURUNNER_COMMANDS_H
#define ACCC_TOOLS_GPURUNNER_COMMANDS_H

#include "accc/Command.h"

namespace accc::tool {

/// samples FOLDER...: the samples that kernel tests wrote (ACCC_TEST_SAMPLES) on this device.
void addSamples(CLI::App &app, Action &action);
/// ceilings [LIB...]: the device, copies of its memory, and the library calls of models.
void addCeilings(CLI::App &app, Action &action);
/// plans LIB...: the convolutions of models, by cuDNN without a device.
void addPlans(CLI::App &app, Action &action);
/// diff LIB|OUT GOLDENS: as accc diff.
void addGoldens(CLI::App &app, Action &action);

} // namespace accc::tool

#endif
