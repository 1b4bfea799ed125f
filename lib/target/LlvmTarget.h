// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code generators of LLVM that accc uses.
#ifndef ACCC_TARGET_LLVMTARGET_H
#define ACCC_TARGET_LLVMTARGET_H

#include "llvm/MC/TargetRegistry.h"

#include <string>

namespace accc {

/// LLVM's target for the triple, of this machine's kind or NVPTX; null if this LLVM was built
/// without. May be called from several threads.
const llvm::Target *findLlvmTarget(const std::string &triple);

} // namespace accc

#endif
