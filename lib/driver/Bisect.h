// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the phase, and the op or kernel, that breaks a model: every phase's IR is run by the
// reference interpreter on the same inputs, and every kernel against it. Free of LLVM.
#ifndef ACCC_DRIVER_BISECT_H
#define ACCC_DRIVER_BISECT_H

#include "accc/tensor.h"
#include "driver/Driver.h"

namespace accc {

/// What the IR after a phase computes, against what it computed before.
struct PhaseVerdict {
  std::string phase;
  /// The result that differs most, as "<entry> <name>", and by how much: RMSE over the root mean
  /// square.
  std::string tensor = {};
  double difference = 0;
  bool broken = false;
  /// If broken: values of the new IR that equal none of the old, in order; the first is the likely
  /// one.
  std::vector<std::string> suspects = {};
  /// If broken by one rewrite alone: its pattern and the op it was applied to.
  std::string rewrite = {};
};

/// One kernel or library call as a library of its own (its entry is `probe`), with the
/// interpreter's values of what it takes and gives. Values are rounded to the tensors' types.
struct KernelProbe {
  std::string entry, label, library;
  TensorMap inputs, expected;
};

struct Bisection {
  Outcome outcome;
  std::vector<PhaseVerdict> phases;
  /// Empty if a phase is broken.
  std::vector<KernelProbe> kernels;
  /// What the model computes by the interpreter, in its first step: loss, outputs,
  /// `grad.<parameter>`.
  TensorMap exact;
};

/// `inputs` are the model's, and `target`, by name; libraries of kernels are written to `folder`.
Bisection bisectModel(const CompileOptions &options, const TensorMap &inputs, double learningRate,
                      const std::string &folder);

} // namespace accc

#endif
