// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/cuda/CudaArch.h"

#include "target/LlvmTarget.h"
#include "target/cuda/CudaTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace accc;

/// The oldest that has what generated code uses: minima and maxima that keep NaNs.
static constexpr int kOldest = 80;
/// The newest that LLVM 19 writes PTX for.
static constexpr int kNewestOfLlvm = 90;

std::string CudaArch::getName() const {
  return (isPtx ? "compute_" : "sm_") + std::to_string(capability);
}

std::unique_ptr<llvm::TargetMachine> CudaArch::createMachine() const {
  std::string triple = "nvptx64-nvidia-cuda";
  const llvm::Target *target = findLlvmTarget(triple);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // Every primitive rounds, as on the CPU (target/cpu/CpuArch.cpp).
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::string cpu = "sm_" + std::to_string(std::min(capability, kNewestOfLlvm));
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, cpu, /*Features=*/"", options, std::nullopt, std::nullopt,
                                  llvm::CodeGenOptLevel::Aggressive));
}

bool accc::isCudaArch(llvm::StringRef name) {
  return name.starts_with("sm_") || name.starts_with("compute_");
}

llvm::Expected<CudaArch> accc::findCudaArch(llvm::StringRef name) {
  CudaArch arch{0, name.starts_with("compute_")};
  llvm::StringRef number = name;
  if (!(number.consume_front("compute_") || number.consume_front("sm_")) ||
      number.getAsInteger(10, arch.capability))
    return llvm::createStringError("unknown --arch '" + name +
                                   "' of --target cuda: use sm_80, sm_90, ... for machine code, "
                                   "compute_80, ... for PTX");
  if (arch.capability < kOldest)
    return llvm::createStringError("--arch " + name +
                                   ": generated code needs compute capability 8.0 (sm_80)");
  // Later ones only ptxas knows.
  std::unique_ptr<llvm::TargetMachine> machine = CudaArch{kOldest, false}.createMachine();
  if (arch.capability <= kNewestOfLlvm && machine &&
      !machine->getMCSubtargetInfo()->isCPUStringValid("sm_" + std::to_string(arch.capability)))
    return llvm::createStringError("--arch " + name +
                                   ": there is no GPU of that compute capability");
  if (arch.capability > kNewestOfLlvm && arch.isPtx)
    return llvm::createStringError("--arch " + name +
                                   ": this accc writes PTX for compute_90 at most, which later "
                                   "GPUs run too");
  return arch;
}

llvm::Expected<std::unique_ptr<Target>> accc::createCudaTarget(llvm::ArrayRef<std::string> names) {
  std::vector<CudaArch> archs;
  for (const std::string &name : names) {
    llvm::Expected<CudaArch> arch = findCudaArch(name);
    if (!arch)
      return arch.takeError();
    archs.push_back(*arch);
  }
  // What runs as it is before what a driver has to compile first; of each the newest first.
  llvm::sort(archs, [](const CudaArch &a, const CudaArch &b) {
    return std::pair(a.isPtx, -a.capability) < std::pair(b.isPtx, -b.capability);
  });
  // For later GPUs than those that are named.
  if (!archs.back().isPtx)
    archs.push_back({std::min(archs.front().capability, kNewestOfLlvm), true});
  return std::make_unique<CudaTarget>(std::move(archs));
}
