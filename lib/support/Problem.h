// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Problems of a model or a compilation, as data.
#ifndef ACCC_SUPPORT_PROBLEM_H
#define ACCC_SUPPORT_PROBLEM_H

#include <string>
#include <vector>

namespace accc {

/// Whose fault a problem is: that of the model or its data, of the options, of the machine (no
/// space, a missing library), or accc's own. The exit code follows from it.
enum class Fault { Data, Usage, Machine, Bug };

struct Problem {
  /// A note says what is normal but may surprise.
  enum class Severity { Note, Warning, Error };
  /// The node of the model as the exporter called it; empty where the model as a whole is meant.
  std::string node = {};
  /// The node's operator in the words of the model's format, with the domain unless that is the
  /// standard one; may be empty.
  std::string op = {};
  /// What was expected, what was found, what to do. One sentence or more, without the node.
  std::string message = {};
  Severity severity = Severity::Error;
  Fault fault = Fault::Data;
  /// Of a model compiled for several sizes, those at which it was found first: "seq=64".
  std::string sizes = {};

  /// The same at other sizes is the same.
  bool operator==(const Problem &other) const {
    return node == other.node && op == other.op && message == other.message &&
           severity == other.severity && fault == other.fault;
  }
};

/// "with -D seq=64: node 'conv1' (Conv): message", as far as known.
std::string describe(const Problem &problem);

/// "data", "usage", "machine" or "bug".
const char *nameOf(Fault fault);
/// "note", "warning" or "error".
const char *nameOf(Problem::Severity severity);

} // namespace accc

#endif
