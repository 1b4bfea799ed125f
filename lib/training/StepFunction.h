// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function that carries a model, while it is being changed; docs/function-contract.md says what
// its arguments and results are.
#ifndef ACCC_TRAINING_STEPFUNCTION_H
#define ACCC_TRAINING_STEPFUNCTION_H

#include "ir/prim/FunctionContract.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace accc {

/// A handle on a function of one block that ends in `func.return`. Results are held by the
/// terminator, so that they follow when ops are replaced.
class StepFunction {
public:
  explicit StepFunction(mlir::func::FuncOp function) : function(function) {}
  /// A copy of `source`, at the end of its module.
  static StepFunction copy(mlir::func::FuncOp source, llvm::StringRef name);
  /// An empty function, at the end of the module.
  static StepFunction create(mlir::ModuleOp module, mlir::Location loc, llvm::StringRef name);

  mlir::func::FuncOp get() const { return function; }
  mlir::Block &body() const { return function.front(); }
  mlir::Operation *terminator() const { return body().getTerminator(); }
  /// Inserts before the terminator.
  mlir::OpBuilder builder() const { return mlir::OpBuilder(terminator()); }

  // ---- arguments ----
  llvm::StringRef argumentName(unsigned i) const;
  std::optional<Role> argumentRole(unsigned i) const;
  bool isFrozen(unsigned i) const { return bool(function.getArgAttr(i, kFrozenAttr)); }
  void freeze(llvm::ArrayRef<unsigned> arguments) const;
  /// The arguments of a role, in order.
  llvm::SmallVector<unsigned> argumentsOf(Role role) const;
  mlir::Value addArgument(llvm::StringRef name, Role role, mlir::Type type) const;
  /// The argument must have no uses.
  void eraseArgument(unsigned i) const { function.eraseArgument(i); }

  // ---- results ----
  unsigned numResults() const { return function.getNumResults(); }
  mlir::Value result(unsigned i) const { return terminator()->getOperand(i); }
  llvm::StringRef resultName(unsigned i) const;
  std::optional<Role> resultRole(unsigned i) const;
  /// `updates`: for the role update, the name of the variable.
  void addResult(mlir::Value value, llvm::StringRef name, Role role,
                 llvm::StringRef updates = "") const;
  void setResult(unsigned i, mlir::Value value) const;
  void setResultRole(unsigned i, Role role) const;
  void eraseResult(unsigned i) const;
  void eraseResultsOf(Role role) const;

private:
  mutable mlir::func::FuncOp function; // a handle: its methods are not const
};

/// Where problems belong that are no node's.
inline mlir::Location wholeModel(StepFunction step) {
  return mlir::UnknownLoc::get(step.get().getContext());
}

/// Adds many arguments and results to a function. One at a time, each would make anew the
/// function's type and the lists of attributes of all those before it.
class StepAdditions {
public:
  explicit StepAdditions(StepFunction step) : step(step) {}
  StepAdditions(const StepAdditions &) = delete;
  StepAdditions &operator=(const StepAdditions &) = delete;
  ~StepAdditions() { commit(); }

  /// As those of StepFunction. Arguments can be used at once; `step` knows arguments and results
  /// after the next commit.
  mlir::Value addArgument(llvm::StringRef name, Role role, mlir::Type type);
  void addResult(mlir::Value value, llvm::StringRef name, Role role, llvm::StringRef updates = "");
  void commit();

private:
  StepFunction step;
  llvm::SmallVector<mlir::DictionaryAttr> arguments, results; // the new ones
  llvm::SmallVector<mlir::Value> values;                      // of the results
};

} // namespace accc

#endif
