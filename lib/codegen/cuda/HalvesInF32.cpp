// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels compute f16 in f32, but LLVM shortens that to instructions of f16 where these round the
// same. Such instructions flush subnormals as those of f32 do. In f16 that is all below 6e-5:
// gradients often are.
#include "codegen/cuda/Cuda.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

static bool isHalf(const Value *value) { return value->getType()->getScalarType()->isHalfTy(); }

static bool computes(const Instruction &instruction) {
  if (!any_of(instruction.operands(), [](const Use &use) { return isHalf(use); }))
    return false;
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
    return Intrinsic::isOverloaded(call->getIntrinsicID());
  return isa<FCmpInst>(instruction) || isa<BinaryOperator>(instruction) ||
         isa<UnaryOperator>(instruction);
}

static Type *inF32(Type *type) {
  Type *f32 = Type::getFloatTy(type->getContext());
  auto *vector = dyn_cast<VectorType>(type);
  return vector ? VectorType::get(f32, vector->getElementCount()) : f32;
}

static void computeInF32(Instruction &instruction) {
  IRBuilder<> builder(&instruction);
  auto widened = [&](Value *value) {
    return isHalf(value) ? builder.CreateFPExt(value, inF32(value->getType())) : value;
  };
  Value *wide = nullptr;
  if (auto *compare = dyn_cast<FCmpInst>(&instruction)) {
    wide = builder.CreateFCmp(compare->getPredicate(), widened(compare->getOperand(0)),
                              widened(compare->getOperand(1)));
  } else if (auto *binary = dyn_cast<BinaryOperator>(&instruction)) {
    wide = builder.CreateBinOp(binary->getOpcode(), widened(binary->getOperand(0)),
                               widened(binary->getOperand(1)));
  } else if (isa<UnaryOperator>(instruction)) {
    wide = builder.CreateFNeg(widened(instruction.getOperand(0)));
  } else {
    auto &call = cast<IntrinsicInst>(instruction);
    SmallVector<Value *> arguments;
    for (Value *argument : call.args())
      arguments.push_back(widened(argument));
    wide = builder.CreateIntrinsic(isHalf(&call) ? inF32(call.getType()) : call.getType(),
                                   call.getIntrinsicID(), arguments);
  }
  if (isHalf(&instruction))
    wide = builder.CreateFPTrunc(wide, instruction.getType());
  instruction.replaceAllUsesWith(wide);
  instruction.eraseFromParent();
}

void accc::codegen::computeHalvesInF32(Module &module) {
  SmallVector<Instruction *> found;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (computes(instruction))
        found.push_back(&instruction);
  for (Instruction *instruction : found)
    computeInF32(*instruction);
}
