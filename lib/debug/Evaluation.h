// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Step functions in the reference interpreter, on values by name: as users see them, whatever the
// order in which a variable lies in memory.
#ifndef ACCC_DEBUG_EVALUATION_H
#define ACCC_DEBUG_EVALUATION_H

#include "accc/tensor.h"
#include "ir/interfaces/ReferenceArray.h"
#include "support/WeightTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace accc {

using NamedArrays = llvm::StringMap<ReferenceArray>;

/// Values for the arguments of any step of a model: inputs, initial weights, the learning rate;
/// seed 0 and step 0. What is not there (optimizer state) counts as zeros.
NamedArrays startingValues(const TensorMap &inputs, const WeightTable &weights,
                           double learningRate);

/// A variable as it lies in memory in some order (argumentOrder), and as its users see it.
ReferenceArray toMemory(const ReferenceArray &array, llvm::ArrayRef<int64_t> order);
ReferenceArray fromMemory(const ReferenceArray &array, llvm::ArrayRef<int64_t> order);

/// The order in which a function takes and gives this variable.
llvm::ArrayRef<int64_t> variableOrder(mlir::func::FuncOp function, llvm::StringRef variable);

/// The arguments of a function, in its order.
llvm::SmallVector<ReferenceArray> argumentsOf(mlir::func::FuncOp function,
                                              const NamedArrays &values);

/// The results of a function by name.
mlir::FailureOr<NamedArrays> evaluate(mlir::func::FuncOp function, const NamedArrays &values);

/// Every value that the function's block defines (arguments not among them).
mlir::FailureOr<llvm::DenseMap<mlir::Value, ReferenceArray>>
evaluateAll(mlir::func::FuncOp function, const NamedArrays &values);

/// Rounded to the type's elements.
Tensor toTensor(const ReferenceArray &array, mlir::RankedTensorType type);

/// RMSE of a - b over the root mean square of b; infinite if they differ in size or one is not
/// finite where the other is.
double relativeDifference(const ReferenceArray &a, const ReferenceArray &b);

} // namespace accc

#endif
