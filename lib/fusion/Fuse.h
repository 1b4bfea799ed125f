// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From prim to prim.fusion regions and library calls.
#ifndef ACCC_FUSION_FUSE_H
#define ACCC_FUSION_FUSE_H

#include "target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace accc {

/// Whether two things become one kernel; if not, why.
struct FusionDecision {
  bool allowed = true;
  std::string reason;
  static FusionDecision allow() { return {}; }
  static FusionDecision forbid(std::string reason) { return {false, std::move(reason)}; }
  explicit operator bool() const { return allowed; }
};

/// One decision, for the compile report.
struct FusionNote {
  std::string function, producer, consumer; // as the model names its nodes
  FusionDecision decision;
};

/// Puts every op of every function that is not a contraction, a reshape or a non-splat constant
/// into a prim.fusion: first each producer into its consumer where one kernel can compute both,
/// then neighbours that read the same; what kernels can compute again for free is not kept in
/// memory. The functions' values are unchanged.
mlir::LogicalResult formFusions(mlir::ModuleOp module, const Target &target,
                                std::vector<FusionNote> *notes = nullptr);

} // namespace accc

#endif
