// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many small functions in one library, each held against the interpreter.
#ifndef ACCC_TEST_UNIT_KERNELS_BATCH_H
#define ACCC_TEST_UNIT_KERNELS_BATCH_H

#include "kernels/Compiled.h"

#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace accc::test {

/// Functions of prim ops with what they are run on. They are compiled as they stand, without the
/// passes of a model, some dozens in one library: generating and loading one takes as long as a
/// dozen kernels.
class Batch {
public:
  explicit Batch(mlir::MLIRContext &context, std::string arch = "x86-64-v3")
      : context(context), arch(std::move(arch)) {}

  /// Takes the function @f of `module` along, to be run on `arguments`. `label` names it in
  /// failures. `tolerance` as for difference(); by default that of the result's type.
  void add(mlir::OwningOpRef<mlir::ModuleOp> module, std::vector<ReferenceArray> arguments,
           std::string label, double tolerance = 0);

  /// Compiles and runs what was added since the last call; one line for each function that fails. A
  /// run must be refused where the interpreter refuses the arguments.
  std::vector<std::string> run();

private:
  struct Function {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    std::vector<ReferenceArray> arguments;
    std::string label;
    double tolerance;
  };
  Compiled compile(llvm::ArrayRef<Function> some);
  void runSome(llvm::ArrayRef<Function> some, std::vector<std::string> &failures);
  std::string runOne(Compiled &compiled, const std::string &entry, const Function &function);

  mlir::MLIRContext &context;
  std::string arch;
  std::vector<Function> functions;
};

} // namespace accc::test

#endif
