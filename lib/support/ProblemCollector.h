// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Diagnostics collected rather than printed.
#ifndef ACCC_SUPPORT_PROBLEMCOLLECTOR_H
#define ACCC_SUPPORT_PROBLEMCOLLECTOR_H

#include "support/Problem.h"

#include "mlir/IR/Diagnostics.h"

namespace accc {

/// The name of the model's node behind a location: the innermost name of a NameLoc, or a file and
/// line. Of a fused location the first that has one. Empty for an unknown location.
std::string nodeName(mlir::Location loc);

/// While it lives, every error, warning and remark (a Problem::Severity::Note) of the context is
/// kept here and nothing is printed. MLIR's notes are appended to the message they belong to. Equal
/// problems are kept once.
class ProblemCollector {
public:
  explicit ProblemCollector(mlir::MLIRContext *context);

  const std::vector<Problem> &get() const { return problems; }
  std::vector<Problem> take() { return std::move(problems); }
  void add(Problem problem);
  /// The gravest fault among the errors since forgetFaults(), those that are kept once included.
  std::optional<Fault> gravestFault() const { return gravest; }
  void forgetFaults() { gravest.reset(); }
  /// Problems from now on are found at these sizes.
  void setSizes(std::string text) { sizes = std::move(text); }

private:
  std::vector<Problem> problems;
  std::string sizes;
  std::optional<Fault> gravest;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace accc

#endif
