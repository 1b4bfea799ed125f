// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last stage: a scheduled program becomes a shared library.
#ifndef ACCC_CODEGEN_GENERATE_H
#define ACCC_CODEGEN_GENERATE_H

#include "ir/exec/Exec.h"
#include "support/WeightTable.h"
#include "target/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace accc {

/// A module of exec ops, and the machines that it is compiled for.
struct TargetProgram {
  mlir::ModuleOp program;
  const Target *target;
};

struct GenerateOptions {
  std::string modelName;
  std::string compilerVersion;
  std::string manifest; // JSON
  /// Initial values of parameters and buffers go into the library.
  bool embedWeights = true;
  /// Where the runtime finds them otherwise: a file name beside the library; empty: given at run
  /// time.
  std::string weightsFile;
  /// Contractions of f32 may round their factors to TF32 where the target can (Target::hasTf32).
  bool tf32 = false;
  /// If set, the kernels' MLIR and the library's LLVM IR are written to this folder; of several
  /// targets or archs each to a folder of its own in it.
  std::string dumpDir;
};

/// Compiles each program, of which there is at least one, for all machines of its target and writes
/// the shared library to `path` (the caller makes that atomic). A runtime takes the best of its
/// codes that it can run: `programs` begins with the best target's. They are of one model: the same
/// variables at the same offsets, the same entry points with the same inputs and outputs.
/// Fails with a diagnostic at the location of a module.
mlir::LogicalResult generateLibrary(llvm::ArrayRef<TargetProgram> programs,
                                    const WeightTable &weights, const GenerateOptions &options,
                                    llvm::StringRef path);

} // namespace accc

#endif
