// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the compiler is at work on: a crash says it.
#ifndef ACCC_SUPPORT_WORKSCOPE_H
#define ACCC_SUPPORT_WORKSCOPE_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace accc {

/// Names of what is being worked on, without heap memory; empty where not known.
struct WorkPlace {
  char phase[32] = {}, entry[64] = {}, node[256] = {}, op[64] = {};
};

/// While it lives, this thread works on an entry point or on a node. Costs two stores.
class WorkScope {
public:
  /// A function is an entry point, everything else a node. The operation may be erased meanwhile.
  explicit WorkScope(mlir::Operation *op);
  /// A node of the model; the names must outlive the scope.
  WorkScope(llvm::StringRef node, llvm::StringRef op);
  ~WorkScope();
  WorkScope(const WorkScope &) = delete;
  WorkScope &operator=(const WorkScope &) = delete;

private:
  friend void describeWork(WorkPlace &place);
  llvm::StringRef entry, node, op;
  mlir::LocationAttr location = nullptr;
  const WorkScope *outer;
};

/// The phase that all threads work on; a literal.
void setWorkPhase(const char *phase);

/// Where this thread is. Fit for a signal handler.
void describeWork(WorkPlace &place);

} // namespace accc

#endif
