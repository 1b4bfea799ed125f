// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The way of a model: the one place that knows the order of the stages.
#ifndef ACCC_DRIVER_PIPELINE_H
#define ACCC_DRIVER_PIPELINE_H

#include "driver/Driver.h"
#include "fusion/fuse/Fuse.h"
#include "support/ProblemCollector.h"
#include "support/WeightTable.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace accc {

/// A model on its way.
struct Compilation {
  Compilation(mlir::MLIRContext &context, const CompileOptions &options)
      : context(context), options(options), problems(&context) {}

  mlir::MLIRContext &context;
  const CompileOptions &options;
  ProblemCollector problems;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  WeightTable weights;
  /// What became one kernel and what did not, with reasons.
  std::vector<FusionNote> fusionNotes;
  /// Hexadecimal SHA-256 of the model file.
  std::string inputHash;
  /// Where the IR before a phase that failed by our fault was kept; empty: nowhere.
  std::string reproducer;
  /// Called after each phase; a failure ends the pipeline.
  std::function<mlir::LogicalResult(llvm::StringRef phase)> afterPhase;
  /// The last failure was the machine's fault: a file that cannot be written.
  bool machineFault = false;
};

/// Makes the dialects of all phases known.
void registerDialects(mlir::MLIRContext &context);

/// Runs the phases of Phases.def up to and with `lastPhase` (empty: all). Between two phases the IR
/// is verified, and dumped where options.dumpDir says so.
ExitCode runPipeline(Compilation &compilation, llvm::StringRef lastPhase, const Progress &progress);

/// One phase alone, on the compilation's module; neither verified nor dumped.
mlir::LogicalResult runPhase(Compilation &compilation, llvm::StringRef name);

/// The phase `decompose` alone.
mlir::LogicalResult decomposeModel(Compilation &compilation);

} // namespace accc

#endif
