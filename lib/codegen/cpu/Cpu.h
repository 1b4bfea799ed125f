// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From kernels in MLIR to machine code for x86-64.
#ifndef ACCC_CODEGEN_CPU_CPU_H
#define ACCC_CODEGEN_CPU_CPU_H

#include "codegen/Generate.h"
#include "codegen/host/Host.h"
#include "codegen/host/Objects.h"
#include "target/cpu/CpuTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

#include <memory>

namespace accc::codegen {

/// Generates the code for every CPU of `target`; adds the symbols of their accc_code to `codes`,
/// the best first. `constants` are those of the program, maybe among others.
mlir::LogicalResult generateCpuCode(mlir::ModuleOp program, const CpuTarget &target,
                                    const ConstantBlock &constants, const GenerateOptions &options,
                                    Objects &objects, std::vector<std::string> &codes);

/// Moves the kernels of a module into modules within it, some to each: parts that can be compiled
/// side by side.
llvm::SmallVector<mlir::ModuleOp> splitKernels(mlir::ModuleOp kernels);

/// Translates a lowered part. The result has the data layout and function attributes of `arch`; its
/// functions are known to the library's other objects, by their objectSymbol.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp part, llvm::LLVMContext &context,
                                        const CpuArch &arch, llvm::TargetMachine &machine,
                                        llvm::StringRef prefix);

/// Translates lowered parts, which it empties, and optimises and writes them and the entry points
/// on all cores, each to a file of its own, `newFile`'s. `inspect` sees each module, with a name
/// for it, before it is optimised, from any thread; where it fails, so does the whole.
mlir::LogicalResult
emitObjects(llvm::ArrayRef<mlir::ModuleOp> parts, llvm::Module &entries, const CpuArch &arch,
            llvm::StringRef prefix, mlir::Location loc,
            llvm::function_ref<mlir::FailureOr<std::string>()> newFile,
            llvm::function_ref<mlir::LogicalResult(llvm::Module &, llvm::StringRef)> inspect);

} // namespace accc::codegen

#endif
