// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/host/VectorDivisions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

/// The quotient by an intrinsic, in the default floating-point environment.
static Value *quotient(IRBuilder<> &builder, BinaryOperator &division) {
  return builder.CreateConstrainedFPBinOp(
      Intrinsic::experimental_constrained_fdiv, division.getOperand(0), division.getOperand(1),
      &division, "", nullptr, RoundingMode::NearestTiesToEven, fp::ebIgnore);
}

/// The remainder of one lane after the other: each is a call of fmod.
static Value *remainder(IRBuilder<> &builder, BinaryOperator &division) {
  Value *result = PoisonValue::get(division.getType());
  unsigned lanes = cast<FixedVectorType>(division.getType())->getNumElements();
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value *a = builder.CreateExtractElement(division.getOperand(0), lane);
    Value *b = builder.CreateExtractElement(division.getOperand(1), lane);
    result = builder.CreateInsertElement(result, builder.CreateFRem(a, b), lane);
  }
  return result;
}

void accc::codegen::hideVectorDivisions(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      unsigned opcode = instruction.getOpcode();
      if (!instruction.getType()->isVectorTy() ||
          (opcode != Instruction::FDiv && opcode != Instruction::FRem))
        continue;
      auto &division = cast<BinaryOperator>(instruction);
      IRBuilder<> builder(&division);
      division.replaceAllUsesWith(opcode == Instruction::FDiv ? quotient(builder, division)
                                                              : remainder(builder, division));
      division.eraseFromParent();
    }
}
