// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_CODEGEN_HOST_VECTORDIVISIONS_H
#define ACCC_CODEGEN_HOST_VECTORDIVISIONS_H

#include "llvm/IR/Module.h"

namespace accc::codegen {

/// Hides divisions of vectors from LLVM's instruction selection, which (in LLVM 19) takes lanes of
/// a quotient for zero where those of both operands are known to be (`KnownZero` of FDIV and FREM
/// in TargetLowering::SimplifyDemandedVectorElts). 0 / 0 is NaN: a select that puts zeros into such
/// lanes, as padding does, would be dropped and the NaN kept. Nothing else about the code changes.
/// To be called after LLVM's passes, which know ordinary divisions better.
void hideVectorDivisions(llvm::Module &module);

} // namespace accc::codegen

#endif
