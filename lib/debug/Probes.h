// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels as libraries of their own.
#ifndef ACCC_DEBUG_PROBES_H
#define ACCC_DEBUG_PROBES_H

#include "debug/Evaluation.h"
#include "debug/Verdicts.h"
#include "target/Target.h"

namespace accc {

/// One probe for every fusion and contraction of a fused step function, in order, compiled for
/// `target` into `folder`. A kernel whose library cannot be made fails with a diagnostic.
mlir::LogicalResult makeProbes(mlir::func::FuncOp step, const NamedArrays &values,
                               const Target &target, const std::string &folder,
                               std::vector<KernelProbe> &probes);

} // namespace accc

#endif
