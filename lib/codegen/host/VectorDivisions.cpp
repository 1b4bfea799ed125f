// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/host/VectorDivisions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

/// The division as one in the default floating-point environment, by an intrinsic.
static void hide(BinaryOperator &division) {
  IRBuilder<> builder(&division);
  Intrinsic::ID id = division.getOpcode() == Instruction::FDiv
                         ? Intrinsic::experimental_constrained_fdiv
                         : Intrinsic::experimental_constrained_frem;
  Value *result = builder.CreateConstrainedFPBinOp(id, division.getOperand(0),
                                                   division.getOperand(1), &division, "", nullptr,
                                                   RoundingMode::NearestTiesToEven, fp::ebIgnore);
  division.replaceAllUsesWith(result);
  division.eraseFromParent();
}

void accc::codegen::hideVectorDivisions(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function)))
      if (auto *division = dyn_cast<BinaryOperator>(&instruction))
        if (division->getType()->isVectorTy() && (division->getOpcode() == Instruction::FDiv ||
                                                  division->getOpcode() == Instruction::FRem))
          hide(*division);
}
