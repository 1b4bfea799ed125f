// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/LlvmTarget.h"

#include "llvm/Support/TargetSelect.h"

using namespace accc;

/// LLVM's list of targets has no lock: two threads that register one at once can tie it into a
/// ring.
static bool registerTargets() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  return true;
}

const llvm::Target *accc::findLlvmTarget(const std::string &triple) {
  [[maybe_unused]] static const bool registered = registerTargets(); // one thread at a time
  std::string error;
  return llvm::TargetRegistry::lookupTarget(triple, error);
}
