// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/host/MaskedLoads.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

static constexpr unsigned kRegisterBits = 256;

/// Whether whole registers of elements that have an instruction are loaded.
static bool fits(const FixedVectorType &type) {
  unsigned bits = type.getScalarSizeInBits();
  return (bits == 32 || bits == 64) && type.getNumElements() % (kRegisterBits / bits) == 0;
}

/// The lanes from `first` on, each all ones or all zeros, that fill a register.
static Value *maskFor(IRBuilder<> &builder, Value *mask, unsigned first, unsigned bits) {
  unsigned lanes = kRegisterBits / bits;
  auto wanted = to_vector(seq<int>(static_cast<int>(first), static_cast<int>(first + lanes)));
  return builder.CreateSExt(builder.CreateShuffleVector(mask, wanted),
                            FixedVectorType::get(builder.getIntNTy(bits), lanes));
}

static Value *lower(IRBuilder<> &builder, IntrinsicInst &load, FixedVectorType &type) {
  Value *from = load.getArgOperand(0), *mask = load.getArgOperand(2),
        *otherwise = load.getArgOperand(3);
  unsigned bits = type.getScalarSizeInBits(), lanes = kRegisterBits / bits;
  Intrinsic::ID instruction =
      bits == 64 ? Intrinsic::x86_avx2_maskload_q_256 : Intrinsic::x86_avx2_maskload_d_256;
  SmallVector<Value *> parts;
  for (unsigned first = 0; first < type.getNumElements(); first += lanes)
    parts.push_back(builder.CreateIntrinsic(
        instruction, {},
        {builder.CreateConstInBoundsGEP1_64(type.getElementType(), from, first),
         maskFor(builder, mask, first, bits)}));
  Value *whole = builder.CreateBitCast(concatenateVectors(builder, parts), &type);
  if (isa<UndefValue>(otherwise) || match(otherwise, PatternMatch::m_Zero()))
    return whole;
  return builder.CreateSelect(mask, whole, otherwise);
}

void accc::codegen::lowerMaskedLoads(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *load = dyn_cast<IntrinsicInst>(&instruction);
      if (!load || load->getIntrinsicID() != Intrinsic::masked_load)
        continue;
      auto *type = cast<FixedVectorType>(load->getType());
      if (isa<Constant>(load->getArgOperand(2)) || !fits(*type))
        continue;
      IRBuilder<> builder(load);
      load->replaceAllUsesWith(lower(builder, *load, *type));
      load->eraseFromParent();
    }
}
