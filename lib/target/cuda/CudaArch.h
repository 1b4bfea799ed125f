// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_TARGET_CUDA_CUDAARCH_H
#define ACCC_TARGET_CUDA_CUDAARCH_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace accc {

/// A kind of NVIDIA GPU to generate code for: as a cubin, which runs on its compute capability and
/// later minor ones, or as PTX, which a driver compiles for it and all later ones.
struct CudaArch {
  int capability; // 80 for 8.0
  bool isPtx;

  /// accc_code.arch: "sm_80", "compute_80".
  std::string getName() const;
  /// LLVM 19's code generator for it. LLVM writes PTX for 9.0 at most, which later GPUs take.
  std::unique_ptr<llvm::TargetMachine> createMachine() const;
};

/// Whether `name` is a GPU's, "sm_..." or "compute_...", be it one of those that findCudaArch finds
/// or not.
bool isCudaArch(llvm::StringRef name);

/// Looks up "sm_80" (a cubin) or "compute_80" (PTX). An error says what is wrong with it.
llvm::Expected<CudaArch> findCudaArch(llvm::StringRef name);

} // namespace accc

#endif
