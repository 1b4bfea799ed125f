// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/cpu/CpuArch.h"

#include "accc/cpu_features.h"
#include "target/LlvmTarget.h"
#include "target/cpu/CpuTarget.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/TargetParser/Host.h"

using namespace accc;

std::unique_ptr<llvm::TargetMachine> CpuArch::createMachine() const {
  std::string triple = llvm::sys::getDefaultTargetTriple();
  const llvm::Target *target = findLlvmTarget(triple);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // Every primitive rounds: what two kernels compute of the same operands is the same to the bit,
  // as gradients assume that look for the maximum among values computed again. Elementary functions
  // ask for fused operations where they want them.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_, std::nullopt,
                                  llvm::CodeGenOptLevel::Aggressive));
}

std::unique_ptr<llvm::TargetMachine> accc::createHostMachine() {
  CpuArch plain;
  plain.cpu = "x86-64";
  return plain.createMachine();
}

bool accc::isCpuArch(llvm::StringRef name) {
  std::unique_ptr<llvm::TargetMachine> machine = createHostMachine();
  return name == "native" || (machine && machine->getMCSubtargetInfo()->isCPUStringValid(name));
}

llvm::Expected<CpuArch> accc::findCpuArch(llvm::StringRef name) {
  CpuArch arch;
  arch.name = arch.cpu = name.str();
  if (name == "native") {
    arch.cpu = llvm::sys::getHostCPUName().str();
    for (auto &feature : llvm::sys::getHostCPUFeatures())
      arch.features += (arch.features.empty() ? "" : ",") +
                       std::string(feature.second ? "+" : "-") + feature.first().str();
  }
  std::unique_ptr<llvm::TargetMachine> host = createHostMachine();
  if (!host)
    return llvm::createStringError("--arch " + name + ": this LLVM has no target for " +
                                   llvm::sys::getDefaultTargetTriple());
  // Of a machine for a CPU that it does not know LLVM itself prints what is wrong.
  if (!host->getMCSubtargetInfo()->isCPUStringValid(arch.cpu))
    return llvm::createStringError("unknown --arch '" + name +
                                   "': use native, x86-64-v3, x86-64-v4 or a CPU that LLVM 19 "
                                   "knows");
  std::unique_ptr<llvm::TargetMachine> machine = arch.createMachine();
  const llvm::MCSubtargetInfo &info = *machine->getMCSubtargetInfo();
  bool avx512 = info.checkFeatures("+avx512f,+avx512bw,+avx512dq,+avx512vl");
  if (!avx512 && !info.checkFeatures("+avx2,+fma"))
    return llvm::createStringError("--arch " + name +
                                   " lacks AVX2 and FMA, which generated code needs");
  llvm::SmallVector<llvm::StringRef> used;
  for (const char *feature : {
#define ACCC_FEATURE(NAME) NAME,
           ACCC_CPU_FEATURES(ACCC_FEATURE)
#undef ACCC_FEATURE
       })
    if (info.checkFeatures(std::string("+") + feature))
      used.push_back(feature);
  arch.vectorBits = avx512 ? 512 : 256;
  // Of a level every CPU that has it has all of it.
  arch.description = llvm::StringRef(arch.cpu).starts_with("x86-64-v")
                         ? arch.cpu
                         : arch.cpu + ":" + llvm::join(used, ",");
  arch.numFeatures = static_cast<int>(used.size());
  return arch;
}

llvm::Expected<std::unique_ptr<Target>> accc::createCpuTarget(llvm::ArrayRef<std::string> names) {
  std::vector<CpuArch> archs;
  for (const std::string &name : names) {
    llvm::Expected<CpuArch> arch = findCpuArch(name);
    if (!arch)
      return arch.takeError();
    // The best first: of two the one with wider vectors, or more features.
    auto isWorse = [&](const CpuArch &other) {
      return std::pair(other.vectorBits, other.numFeatures) <
             std::pair(arch->vectorBits, arch->numFeatures);
    };
    archs.insert(llvm::find_if(archs, isWorse), std::move(*arch));
  }
  return std::make_unique<CpuTarget>(std::move(archs));
}
