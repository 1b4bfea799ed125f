// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that a compile makes on its way to the library.
#ifndef ACCC_CODEGEN_HOST_OBJECTS_H
#define ACCC_CODEGEN_HOST_OBJECTS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <string>
#include <vector>

namespace accc::codegen {

/// Files in memory, without a name that a killed compile could leave behind: child processes (the
/// linker, ptxas) inherit their descriptors and open them by these.
class Objects {
public:
  Objects() = default;
  Objects(const Objects &) = delete;
  Objects &operator=(const Objects &) = delete;
  ~Objects();
  /// The path of a new one.
  mlir::FailureOr<std::string> add(mlir::Location loc);
  std::vector<std::string> paths;

private:
  std::vector<int> descriptors;
};

/// Switches loop strength reduction of LLVM's code generators on or off, for the whole process:
/// each target does so before it generates code, so that the code is the same whatever came before.
void setLoopStrengthReduction(bool on);

/// Runs a pipeline of LLVM's passes, in the syntax of `opt -passes`.
mlir::LogicalResult optimise(llvm::Module &module, llvm::TargetMachine &machine,
                             llvm::StringRef passes, mlir::Location loc);

/// Optimises and writes an object file.
mlir::LogicalResult emitObject(llvm::Module &module, llvm::TargetMachine &machine,
                               llvm::StringRef path, mlir::Location loc);

/// Links the objects into a shared library that exports only `symbol`.
mlir::LogicalResult linkLibrary(Objects &objects, llvm::StringRef symbol, llvm::StringRef path,
                                mlir::Location loc);

/// Writes text for people to look at into `folder`, or nothing where that is empty. An error of the
/// machine where that fails, as of the IR that is dumped after each phase.
mlir::LogicalResult dump(llvm::StringRef folder, llvm::StringRef name, mlir::Location loc,
                         llvm::function_ref<void(llvm::raw_ostream &)> print);

/// The folder for what one of several targets or archs dumps; empty where nothing is to be dumped.
std::string dumpFolder(llvm::StringRef folder, llvm::StringRef machine, bool several);

} // namespace accc::codegen

#endif
