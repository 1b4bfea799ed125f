// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the phase, and the op or kernel, that breaks a model: every phase's IR is run by the
// reference interpreter on the same inputs, and every kernel against it. Free of LLVM.
#ifndef ACCC_DRIVER_BISECT_H
#define ACCC_DRIVER_BISECT_H

#include "debug/Verdicts.h"
#include "driver/Driver.h"

namespace accc {

struct Bisection {
  Outcome outcome;
  std::vector<PhaseVerdict> phases;
  /// Empty if a phase is broken.
  std::vector<KernelProbe> kernels;
  /// What the model computes by the interpreter, in its first step: loss, outputs,
  /// `grad.<parameter>`.
  TensorMap exact;
};

/// `inputs` are the model's, and `target`, by name; a variable among them starts from the tensor of
/// its name, where the shape is its own, instead of the model's initial value; libraries of kernels
/// are written to `folder`.
Bisection bisectModel(const CompileOptions &options, const TensorMap &inputs, double learningRate,
                      const std::string &folder);

} // namespace accc

#endif
