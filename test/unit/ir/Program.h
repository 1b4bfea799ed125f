// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IR text that a test interprets.
#ifndef ACCC_TEST_UNIT_IR_PROGRAM_H
#define ACCC_TEST_UNIT_IR_PROGRAM_H

#include "reference/interpreter/Interpreter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace accc::test {

/// The context all programs share, with every dialect a model may use.
mlir::MLIRContext &context();

/// Text with a `func.func @f`. Text that does not parse or verify fails the test with its
/// diagnostic.
class Program {
public:
  explicit Program(const std::string &text);

  mlir::func::FuncOp function();

  /// The results of @f; a failure fails the test.
  std::vector<ReferenceArray> run(llvm::ArrayRef<ReferenceArray> arguments);

  /// The diagnostic with which @f fails; empty if it does not.
  std::string failure(llvm::ArrayRef<ReferenceArray> arguments);

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

ReferenceArray array(llvm::ArrayRef<int64_t> shape, std::vector<double> values);
/// Of one dimension.
ReferenceArray array(std::vector<double> values);

/// Equal up to the tolerance (relative beyond 1); NaN equals NaN, infinities their like.
bool isClose(double a, double b, double tolerance);

/// One line for each element in which the two differ by more than the tolerance; empty if none.
std::string difference(llvm::ArrayRef<double> found, llvm::ArrayRef<double> expected,
                       double tolerance);

} // namespace accc::test

#endif
