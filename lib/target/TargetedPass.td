// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_TARGET_TARGETEDPASS
#define ACCC_TARGET_TARGETEDPASS

include "mlir/Pass/PassBase.td"

// A pass whose choices depend on the machine, which it asks `Target` about (target/TargetedPass.h).
class TargetedPass<string argument, string operation = "::mlir::func::FuncOp", list<Option> more = []>
    : Pass<argument, operation> {
  let options = !listconcat([
    Option<"target", "target", "std::string", "\"cpu\"", "The target, as --target of accc names it">,
    ListOption<"archs", "arch", "std::string", "The machines of the target (default: the target's default)">
  ], more);
}

// What --precision says, for passes that ask about contractions of f32.
def Tf32Option : Option<"tf32", "tf32", "bool", "false", "Contractions of f32 may round their factors to TF32">;

#endif
