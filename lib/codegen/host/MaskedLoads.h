// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_CODEGEN_HOST_MASKEDLOADS_H
#define ACCC_CODEGEN_HOST_MASKEDLOADS_H

#include "llvm/IR/Module.h"

namespace accc::codegen {

/// Makes each load whose mask is no constant the instruction that x86-64-v3 has for it, with a mask
/// of as many bits as an element, register by register.
///
/// LLVM 19 wants no more of such a mask than its signs (combineMaskedLoad, which lets
/// SimplifyDemandedBits choose the other bits), and then takes any number but zero for true
/// (combineMaskedLoadConstantMask): of eight doubles with the mask `b and <1,1,1,1,0,0,0,0>` it
/// loads the second four without one, which are wrong and may lie behind the end of the buffer.
/// CPUs with AVX-512 have registers for masks, and no such loads.
///
/// To be called after LLVM's passes, which know ordinary loads better.
void lowerMaskedLoads(llvm::Module &module);

} // namespace accc::codegen

#endif
