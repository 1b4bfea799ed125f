// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two ways to take less memory: tensors in chunks, before kernels are formed, and values computed
// again instead of kept, of kernels.
#ifndef ACCC_BUDGET_BUDGET_H
#define ACCC_BUDGET_BUDGET_H

#include "budget/Costs.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace accc {

/// What taking less memory costs.
struct Economy {
  double cost = 0;                // in bytes (Target.h); 0 or less: nothing
  std::vector<std::string> notes; // what was done, for the user
};

/// Computes tensors between matrix products that are larger than a chunk of the target's in chunks
/// of `chunkBytes` bytes (--compute-in-chunks).
Economy computeInChunks(mlir::ModuleOp module, const Costs &costs, int64_t chunkBytes);

/// Computes values again until every function of a module of kernels takes at most `budget` bytes,
/// variables, inputs and outputs included (--fit-memory). Fails with an error that says how many
/// there are at least.
mlir::FailureOr<Economy> fitMemory(mlir::ModuleOp module, const Costs &costs, int64_t budget);

} // namespace accc

#endif
