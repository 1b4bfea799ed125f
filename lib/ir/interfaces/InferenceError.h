// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a builder that infers types gives up: as an exception, where mlir-tblgen would end the
// process.
#ifndef ACCC_IR_INTERFACES_INFERENCEERROR_H
#define ACCC_IR_INTERFACES_INFERENCEERROR_H

#include <string>

namespace mlir {
struct OperationState;
} // namespace mlir

namespace accc {

/// Operands and attributes that an op's types cannot be inferred from. A diagnostic has said why.
/// Importers catch it, since what they build is as a file says; elsewhere it is a bug, and nobody
/// does.
struct InferenceError {
  std::string op;
};

/// What lib/ir/CMakeLists.txt has generated builders call.
[[noreturn]] void failInference(const mlir::OperationState &state);

} // namespace accc

#endif
