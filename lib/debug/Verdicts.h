// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a bisection finds out. Free of LLVM.
#ifndef ACCC_DEBUG_VERDICTS_H
#define ACCC_DEBUG_VERDICTS_H

#include "accc/tensor.h"

#include <string>
#include <vector>

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

} // namespace accc

#endif
