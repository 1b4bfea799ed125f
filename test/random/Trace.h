// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the entry points of a model compute, by whoever computes it.
#ifndef ACCC_TEST_RANDOM_TRACE_H
#define ACCC_TEST_RANDOM_TRACE_H

#include "Case.h"

#include <functional>

namespace accc::test {

/// Interprets a function.
using Interpreter = std::function<mlir::LogicalResult(
    mlir::func::FuncOp, llvm::ArrayRef<ReferenceArray>, llvm::SmallVectorImpl<ReferenceArray> &)>;

/// Every number that a model gives when it is used: by "<call> <result>" and, for new values of
/// variables, "<call> new <variable>". The calls are grad_step, apply_step on its gradients,
/// eval_step, and train_step, "train_step 1" to "train_step <steps>", each on what the one before
/// left. The first three begin with the initial variables.
using Trace = Values;

/// The values that calls begin with: @forward's arguments, optimizer state, target, learning rate,
/// seed, step.
Values firstValues(mlir::ModuleOp trainable, Values arguments, const CaseOptions &options);

/// Interprets a module of entry points. Fails where the interpreter does.
mlir::FailureOr<Trace> traceModule(mlir::ModuleOp module, const Values &start, int steps,
                                   const Interpreter &interpreter);

/// Runs a library that was compiled from `trainable`, a module of entry points, in a group of
/// `ranks` that all have the same data. `error` says why it could not, or that not all have the
/// same numbers.
Trace traceLibrary(const std::string &path, mlir::ModuleOp trainable, const Values &start,
                   int steps, int threads, int ranks, std::string &error);

/// ||a - b|| / ||b||; infinite where a number is not finite and the other is not the same.
double distance(const ReferenceArray &a, const ReferenceArray &b);
bool isFinite(const ReferenceArray &array);

} // namespace accc::test

#endif
