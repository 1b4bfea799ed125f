// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles and runs a case, and compares every number on the way.
#ifndef ACCC_TEST_RANDOM_CHECK_H
#define ACCC_TEST_RANDOM_CHECK_H

#include "Case.h"

#include <functional>

namespace accc::test {

/// What became of one case.
struct Verdict {
  enum class Status {
    Passed,
    Rejected, ///< no case: nothing to train, or data that an op does not take
    Failed,
  };
  Status status = Status::Passed;
  /// Of a failure: a name that failures of one cause share ("fuse changes values"), and what was
  /// found. Of what was rejected: why.
  std::string kind, message;
  int64_t compared = 0;
  /// Not compared: rounding decides more than a twentieth of it, or a number of it is not finite.
  int64_t illConditioned = 0, notFinite = 0;
};

/// Makes the module's @forward trainable, runs it through every phase of the driver, loads the
/// library and calls each entry point. The interpreter on the trainable module, in double
/// precision, is the reference: for the interpreter after each phase, and for the library.
///
/// What is tolerated is what rounding changes: each tensor's relative difference may be
/// kNoiseFactor times the greatest that several runs of the reference with rounding errors of a few
/// units of float32 (Noise.h) give, and kTolerance in any case.
///
/// With `library` false nothing is compiled, only the phases up to the schedule are checked, which
/// takes a tenth of the time. `afterPhase` may look at the module after each phase, or change it.
struct CheckOptions {
  bool library = true;
  std::function<void(llvm::StringRef phase, mlir::ModuleOp)> afterPhase = {};
};
Verdict checkCase(mlir::ModuleOp module, const CheckOptions &options = {});

} // namespace accc::test

#endif
