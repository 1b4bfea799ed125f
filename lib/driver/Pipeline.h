// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compilation pipeline: the one place that knows the order of the stages.
#ifndef ACCC_DRIVER_PIPELINE_H
#define ACCC_DRIVER_PIPELINE_H

#include "codegen/Generate.h"
#include "driver/Driver.h"
#include "driver/Files.h"
#include "driver/InputHashes.h"
#include "driver/Manifest.h"
#include "driver/Report.h"
#include "driver/Sizes.h"
#include "frontend/common/ImportResult.h"
#include "schedule/merge/Merge.h"
#include "support/CompileLog.h"
#include "support/ProblemCollector.h"
#include "support/WeightTable.h"
#include "target/Target.h"
#include "target/TargetChoice.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"

#include <map>
#include <optional>

namespace accc {

/// What a variable is, by name.
using VariableTypes = std::map<std::string, std::string>;

/// A target of the compilation. From the first phase on that asks one, what becomes of the model
/// for each target is a branch of its own.
struct TargetBranch {
  TargetChoice choice;
  std::unique_ptr<const Target> target;
  /// Where there are several sizes or targets: what became of the model for this target at each
  /// size, once all are there; after the merge the one program for all.
  std::vector<SizedProgram> programs;
};

/// A model being compiled.
struct Compilation {
  /// The options are good (checkOptions).
  Compilation(mlir::MLIRContext &context, const CompileOptions &options);

  mlir::MLIRContext &context;
  const CompileOptions &options;
  /// The best target first.
  std::vector<TargetBranch> branches;
  /// The one that phases ask now.
  TargetBranch *branch;
  const Target &target() const { return *branch->target; }
  CompileLog log;
  ProblemCollector problems;
  /// One size for each open dimension: those that `module` has now.
  Sizes sizes;
  /// What phases work on. Null once each of several targets has its program.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The initial values of variables, at all sizes the same.
  WeightTable weights;
  /// Of the last sizes imported.
  WrongSizes wrongSizes;
  /// What the importer found of the model's export.
  ExportNotes exported;
  /// The first sizes imported, and the variables there.
  std::optional<std::pair<std::string, VariableTypes>> variables;
  /// Where there are several sizes and the pipeline ends before any target is asked: the model at
  /// each.
  std::vector<SizedProgram> models;
  /// What became one kernel and what did not, with reasons; only where there is a report.
  std::vector<FusionDecisions> fusionDecisions;
  /// Computed beside the phases, and only where there is an output to name them.
  std::shared_future<InputHashes> inputHashes;
  /// Where the IR before a phase that failed by our fault was kept; empty: nowhere.
  std::string reproducer;
  /// Called after each phase; a failure ends the pipeline.
  std::function<mlir::LogicalResult(llvm::StringRef phase)> afterPhase;
  /// Nothing is compiled: the model may hold what is not supported yet.
  bool onlyInspected = false;
  /// What has been written so far; without names before everything is there.
  OutputFiles outputs;
};

/// What is wrong with the options, before any file is read. Everything at once.
std::vector<Problem> checkOptions(const CompileOptions &options);

/// Makes the dialects of all phases known.
void registerDialects(mlir::MLIRContext &context);

/// Runs the phases of Phases.def up to and with `lastPhase` (empty: all): those that work at given
/// sizes for all that the options name, one after the other, the later of these for each target;
/// then on what they gave together.
/// Between two phases the IR is verified, checked against what the next phase accepts
/// (Boundaries.h), and dumped where options.dumpDir says so. Where the model is at fault at some
/// sizes, the others are still looked at, so that all problems are found.
ExitCode runPipeline(Compilation &compilation, llvm::StringRef lastPhase, const Progress &progress);

/// The IR of the model as text; of several targets, or sizes not yet merged, that of each behind a
/// line that names them.
std::string printModel(Compilation &compilation);

/// The scheduled program for each target, the best first.
std::vector<TargetProgram> programsOf(Compilation &compilation);

/// One phase alone, on the compilation's module; neither verified nor dumped.
mlir::LogicalResult runPhase(Compilation &compilation, llvm::StringRef name);

/// Runs a pass on a module, or on each of its functions.
mlir::LogicalResult runPass(Compilation &compilation, mlir::ModuleOp module,
                            std::unique_ptr<mlir::Pass> pass);

/// The phase `decompose` alone.
mlir::LogicalResult decomposeModel(Compilation &compilation);

} // namespace accc

#endif
