// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands in a model's way, as data: diagnostics collected rather than printed.
#ifndef ACCC_SUPPORT_PROBLEM_H
#define ACCC_SUPPORT_PROBLEM_H

#include "mlir/IR/Diagnostics.h"

#include <string>
#include <vector>

namespace accc {

struct Problem {
  enum class Severity { Warning, Error };
  Severity severity = Severity::Error;
  /// The node of the model as the exporter called it; empty where the model as a whole is meant.
  std::string node;
  /// What was expected, what was found, what to do. One sentence or more, without the node.
  std::string message;

  bool operator==(const Problem &other) const = default;
};

/// The name of the model's node behind a location: the innermost name of a NameLoc, or a file and
/// line. Of a fused location the first that has one. Empty for an unknown location.
std::string nodeName(mlir::Location loc);

/// "node: message", or the message alone.
std::string describe(const Problem &problem);

/// While it lives, every warning and error of the context is kept here and nothing is printed.
/// Notes are appended to the message they belong to; remarks are dropped. Equal problems are kept
/// once.
class ProblemCollector {
public:
  explicit ProblemCollector(mlir::MLIRContext *context);

  const std::vector<Problem> &get() const { return problems; }
  std::vector<Problem> take() { return std::move(problems); }
  bool hasErrors() const;

private:
  std::vector<Problem> problems;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace accc

#endif
