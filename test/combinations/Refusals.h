// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that a trainer must refuse.
#ifndef ACCC_TEST_COMBINATIONS_REFUSALS_H
#define ACCC_TEST_COMBINATIONS_REFUSALS_H

#include <accc/accc.h>

#include <string>

/// Tries everything that is wrong with a training step on this batch: each try must throw an Error
/// of its kind and leave variables, learning rate and step count as they are. `step` is the step's
/// name, `scratch` a file that may be written. Throws std::runtime_error where one does not.
void tryRefusals(accc::Trainer &trainer, const std::string &step, const accc::TensorMap &batch,
                 const std::string &scratch);

#endif
