// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What decides how often a reduction walks its rows.
#ifndef ACCC_CODEGEN_KERNEL_ROWANALYSIS_H
#define ACCC_CODEGEN_KERNEL_ROWANALYSIS_H

#include "codegen/kernel/ReduceKernel.h"

namespace accc::codegen {

/// The most registers of 32 bits that a step of a row, one element, takes from pass to pass: for
/// values that are needed again later, and for the element's index.
int64_t countLiveRegisters(const Reductions &reductions);

/// A sum over a row of exp(x - max x), times what does not depend on the maximum.
struct OnlineSum {
  size_t maximum; // which reduction of the level before
  prim::ExpOp exp;
  bool isGuarded; // 0 is subtracted where the maximum is -inf
};

/// One for each reduction of the level behind `level`, where all of these can be found in one pass
/// with those of `level`; else none.
llvm::SmallVector<OnlineSum> findOnlineSums(const Reductions &reductions, size_t level);

} // namespace accc::codegen

#endif
