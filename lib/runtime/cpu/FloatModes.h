// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CPU_FLOATMODES_H
#define ACCC_RUNTIME_CPU_FLOATMODES_H

#include "Team.h"

namespace accc::detail {

/// While it lives, all threads of a team, and no others, compute as kernels expect it, whatever the
/// program has asked its CPU for:
/// - Results are rounded to nearest, so that they do not depend on the program.
/// - Nothing traps: a kernel divides by zero in lanes that it does not use.
/// - Floats below 1.18e-38 count as zero, as operands and as results. Training makes them (a mask
///   of -100 before a softmax, squares of small gradients) and nothing follows from them, but a
///   product of one takes the CPU a hundred times as long: a fifth of Swin-T's step was spent on
///   them.
/// Afterwards each thread has its own modes and flags again. Steps may be nested: a custom operator
/// may run one of another session.
class FloatModes {
public:
  explicit FloatModes(const Team &team);
  FloatModes(const FloatModes &) = delete;
  FloatModes &operator=(const FloatModes &) = delete;
  ~FloatModes();

private:
  const Team &team;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CPU_FLOATMODES_H
