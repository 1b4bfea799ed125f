// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From kernels in MLIR to machine code for x86-64.
#ifndef ACCC_CODEGEN_CPU_CPU_H
#define ACCC_CODEGEN_CPU_CPU_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace accc::codegen {

/// The machine to generate for.
struct CpuTarget {
  std::unique_ptr<llvm::TargetMachine> machine;
  std::string name;   // as the user wrote it
  int64_t vectorBits; // of its widest registers
  std::string arch;   // accc_code.arch
  int features;       // how many of ACCC_CPU_FEATURES the code may use
};

/// Looks up `arch` ("native" or a CPU name of LLVM). Fails with a diagnostic that lists what is
/// known.
mlir::FailureOr<CpuTarget> createCpuTarget(llvm::StringRef arch, mlir::Location loc);

/// Lowers func, scf, arith, math and vector ops to the LLVM dialect, in place.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module);

/// Translates the lowered module. The result has the target's data layout and function attributes.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module, llvm::LLVMContext &context,
                                        const CpuTarget &target);

/// Optimises and writes an object file.
mlir::LogicalResult emitObject(llvm::Module &module, llvm::TargetMachine &machine,
                               llvm::StringRef path, mlir::Location loc);

/// The same for many functions, in parts on all cores, each to a file of its own, `newFile`'s. The
/// module's local names get `prefix`.
mlir::LogicalResult emitObjects(std::unique_ptr<llvm::Module> module, const CpuTarget &target,
                                llvm::StringRef prefix, mlir::Location loc,
                                llvm::function_ref<mlir::FailureOr<std::string>()> newFile);

/// Links objects into a shared library that exports only `symbol`.
mlir::LogicalResult linkLibrary(llvm::ArrayRef<std::string> objects, llvm::StringRef symbol,
                                llvm::StringRef path, mlir::Location loc);

} // namespace accc::codegen

#endif
