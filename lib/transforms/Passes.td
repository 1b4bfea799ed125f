// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composite operators become primitives, and these fewer. Free of any target.
#ifndef ACCC_TRANSFORMS_PASSES
#define ACCC_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"decompose", "::mlir::func::FuncOp"> {
  let summary = "Replaces composite operators by primitives";
  let description = [{
    Asks every op for its decomposition until none is left that has one. Fails, naming each op, if an op
    of `nn` remains.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

def SimplifyPass : Pass<"simplify", "::mlir::func::FuncOp"> {
  let summary = "Algebra on primitives, constant folding, common subexpressions, dead code";
  let description = [{
    Composes views, drops what does nothing, evaluates what is known. Keeps values up to rounding: sums
    are not reordered, and no rule assumes that numbers are finite.}];
  let dependentDialects = ["::accc::prim::PrimDialect"];
}

#endif
