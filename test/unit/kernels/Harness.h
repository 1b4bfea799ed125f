// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles a function and compares what it computes with the interpreter.
#ifndef ACCC_TEST_UNIT_KERNELS_HARNESS_H
#define ACCC_TEST_UNIT_KERNELS_HARNESS_H

#include <cstdint>
#include <string>

namespace accc::test {

struct KernelCase {
  const char *name;
  /// `func.func @f(...) -> ...` of nn and prim ops; float arguments are random in [-2, 2], integers
  /// in [0, integerBound).
  const char *text;
  int64_t integerBound = 3;
  double tolerance = 2e-6; // relative, in the 2-norm: f32 arithmetic against f64
  /// Compiles the vector-Jacobian product of @f instead: its arguments are those of @f and one
  /// cotangent for each float result.
  bool gradient = false;
  /// Runs the passes that a model goes through before it is fused.
  bool passes = false;
};

struct KernelOutcome {
  std::string error; // empty: all results agree
  int launches = 0;
};

/// `arch` as for --arch. The library is written to a temporary folder and removed.
/// Without `interpreted` the results are not compared: the case is about what the run says.
KernelOutcome runKernelCase(const KernelCase &test, const std::string &arch,
                            bool interpreted = true);

} // namespace accc::test

#endif
