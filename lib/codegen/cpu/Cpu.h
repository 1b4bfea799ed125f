// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From kernels in MLIR to machine code for x86-64.
#ifndef ACCC_CODEGEN_CPU_CPU_H
#define ACCC_CODEGEN_CPU_CPU_H

#include "codegen/Generate.h"
#include "codegen/Objects.h"
#include "target/cpu/CpuTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

#include <memory>

namespace accc::codegen {

/// Generates the code for every CPU of `target`; adds the symbols of their accc_code to `codes`,
/// the best first.
mlir::LogicalResult generateCpuCode(mlir::ModuleOp program, const CpuTarget &target,
                                    const GenerateOptions &options, Objects &objects,
                                    std::vector<std::string> &codes);

/// Lowers func, scf, arith, math and vector ops to the LLVM dialect, in place.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module);

/// Whether anything gives 16-bit floats.
bool hasHalfFloats(mlir::ModuleOp module);

/// Arithmetic of 16-bit floats becomes that of f32, rounded after each operation.
void computeHalvesInF32(mlir::ModuleOp module);

/// In a lowered module without arithmetic of bf16: what is moved as bf16 becomes i16. Fails where
/// there is such arithmetic. (To select or to store some lanes of bf16, LLVM computes in f32.)
mlir::LogicalResult keepBFloatsAsIntegers(mlir::ModuleOp module);

/// Translates the lowered module. The result has the data layout and function attributes
/// of `arch`.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module, llvm::LLVMContext &context,
                                        const CpuArch &arch);

/// Optimises and writes an object file.
mlir::LogicalResult emitObject(llvm::Module &module, llvm::TargetMachine &machine,
                               llvm::StringRef path, mlir::Location loc);

/// The same for many functions, in parts on all cores, each to a file of its own, `newFile`'s. The
/// module's local names get `prefix`.
mlir::LogicalResult emitObjects(std::unique_ptr<llvm::Module> module, const CpuArch &arch,
                                llvm::StringRef prefix, mlir::Location loc,
                                llvm::function_ref<mlir::FailureOr<std::string>()> newFile);

/// Links objects into a shared library that exports only `symbol`.
mlir::LogicalResult linkLibrary(llvm::ArrayRef<std::string> objects, llvm::StringRef symbol,
                                llvm::StringRef path, mlir::Location loc);

} // namespace accc::codegen

#endif
