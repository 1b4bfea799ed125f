// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_TARGET_TARGETEDPASS
#define ACCC_TARGET_TARGETEDPASS

include "mlir/Pass/PassBase.td"

// A pass whose choices depend on the machine, which it asks `Target` about (target/TargetedPass.h).
class TargetedPass<string argument> : Pass<argument, "::mlir::func::FuncOp"> {
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "The target, as --target of accc names it">,
    ListOption<"archs", "arch", "std::string", "The machines of the target (default: the target's default)">
  ];
}

#endif
