// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holds derivative rules against finite differences of the interpreter.
#ifndef ACCC_REFERENCE_INTERPRETER_GRADIENTCHECK_H
#define ACCC_REFERENCE_INTERPRETER_GRADIENTCHECK_H

#include "reference/interpreter/Interpreter.h"

#include <string>

namespace accc {

struct GradientTolerance {
  double step = 1e-6, absolute = 1e-5, relative = 1e-3;
};

/// The vector-Jacobian product of a function, as a new function after it in its module (or free, if
/// it stands in none): takes the function's arguments and one cotangent for each float result,
/// gives one cotangent for each float argument. A plain reverse walk over the ops' rules, for tests
/// of the rules; an op without a rule is differentiated through its decomposition. Null, with a
/// diagnostic at the op, if a rule is missing.
mlir::OwningOpRef<mlir::func::FuncOp> buildVjp(mlir::func::FuncOp function);

/// What is wrong with the derivative of `function` at `arguments`; empty if nothing is. Every
/// partial derivative of a weighted sum of the float results is compared with its central
/// difference. Floats ought to be f64, so that constants in the rules are not rounded.
std::string checkGradient(mlir::func::FuncOp function, llvm::ArrayRef<ReferenceArray> arguments,
                          const GradientTolerance &tolerance = {});

/// The same for a VJP made by others, in the form that buildVjp gives.
std::string checkGradient(mlir::func::FuncOp function, mlir::func::FuncOp vjp,
                          llvm::ArrayRef<ReferenceArray> arguments,
                          const GradientTolerance &tolerance = {});

} // namespace accc

#endif
