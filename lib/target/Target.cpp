// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/Target.h"

#include "target/TargetChoice.h"
#include "target/cpu/CpuTarget.h"
#include "target/cuda/CudaTarget.h"

#include "llvm/ADT/STLExtras.h"

using namespace accc;

Target::~Target() = default;

std::vector<std::string> accc::resolveArchs(llvm::StringRef name,
                                            llvm::ArrayRef<std::string> archs) {
#define ACCC_TARGET(target, factory, knows, ...)                                                   \
  if (archs.empty() && name == #target)                                                            \
    return {__VA_ARGS__};
#include "target/Targets.def"
  return archs.vec();
}

llvm::Expected<std::unique_ptr<Target>> accc::createTarget(llvm::StringRef name,
                                                           llvm::ArrayRef<std::string> archs) {
  for (const std::string &arch : archs)
    if (llvm::count(archs, arch) > 1)
      return llvm::createStringError("--arch names " + arch + " twice");
#define ACCC_TARGET(target, factory, knows, ...)                                                   \
  if (name == #target)                                                                             \
    return factory(resolveArchs(name, archs));
#include "target/Targets.def"
  return unknownTarget(name);
}
