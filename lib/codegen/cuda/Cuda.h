// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From kernels in MLIR to PTX and cubins for NVIDIA GPUs.
#ifndef ACCC_CODEGEN_CUDA_CUDA_H
#define ACCC_CODEGEN_CUDA_CUDA_H

#include "codegen/Generate.h"
#include "codegen/host/Host.h"
#include "codegen/host/Objects.h"
#include "target/cuda/CudaTarget.h"

#include "llvm/IR/Module.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace accc::codegen {

/// Generates the code for every arch of `target`; adds the symbols of their accc_code to `codes`,
/// the best first. `constants` are those of the program, maybe among others.
mlir::LogicalResult generateCudaCode(mlir::ModuleOp program, const CudaTarget &target,
                                     const ConstantBlock &constants, const GenerateOptions &options,
                                     Objects &objects, std::vector<std::string> &codes);

/// Links what `module` calls of NVIDIA's device library (libdevice) into it. An error says where
/// that was looked for.
mlir::LogicalResult linkDeviceLibrary(llvm::Module &module, mlir::Location loc);

/// Has what LLVM made to compute in f16 compute in f32: instructions of f16 would take subnormals
/// for zero.
void computeHalvesInF32(llvm::Module &module);

/// The folder of the CUDA toolkit: CUDA_PATH, CUDA_HOME, that of an nvcc in PATH, or
/// /usr/local/cuda; none where there is no such folder.
std::optional<std::string> findToolkit();

/// The path of ptxas, in PATH or the toolkit.
std::optional<std::string> findPtxas();

/// Assembles PTX to a cubin for compute capability `capability`. Fails with what ptxas says.
mlir::FailureOr<std::string> assemble(llvm::StringRef ptxas, llvm::StringRef ptx, int capability,
                                      mlir::Location loc);

/// What ptxas says of the registers and spills of each kernel (`ptxas -v`); empty where it fails.
std::string describeResources(llvm::StringRef ptxas, llvm::StringRef ptx, int capability);

} // namespace accc::codegen

#endif
