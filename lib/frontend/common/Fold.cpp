// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Fold.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/Prim.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using namespace accc;

namespace {

// What is larger is better computed by the step than kept in it.
constexpr int64_t kElements = 1024;
constexpr int64_t kIndices = 65536;

bool small(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  bool indices = tensor.getElementType().isInteger(64) && tensor.getRank() <= 1;
  return tensor.getNumElements() <= (indices ? kIndices : kElements);
}

/// Saturates, so that 2^63 - 1, which means "to the end" and is 2^63 as a double, stays what it is.
DenseElementsAttr toKnown(const ReferenceArray &array, RankedTensorType type) {
  if (!type.getElementType().isSignlessInteger(64))
    return toElements(array, type);
  SmallVector<int64_t> values;
  for (double value : array.values)
    values.push_back(value >= 0x1p63    ? std::numeric_limits<int64_t>::max()
                     : value <= -0x1p63 ? std::numeric_limits<int64_t>::min()
                                        : static_cast<int64_t>(value));
  return DenseElementsAttr::get(type, ArrayRef<int64_t>(values));
}

} // namespace

DenseElementsAttr accc::knownValue(Value value) {
  if (auto constant = value.getDefiningOp<prim::ConstantOp>())
    return dyn_cast<DenseElementsAttr>(constant.getValue());
  return {};
}

SmallVector<Value> accc::foldConstant(Operation *op) {
  auto evaluable = dyn_cast<Evaluable>(op);
  if (!evaluable || isa<prim::ConstantOp>(op) || op->getNumResults() == 0)
    return {};
  if (!llvm::all_of(op->getResultTypes(), small) || !llvm::all_of(op->getOperandTypes(), small))
    return {};
  SmallVector<ReferenceArray> operands, results;
  for (Value operand : op->getOperands()) {
    DenseElementsAttr value = knownValue(operand);
    if (!value)
      return {};
    operands.push_back(toReference(value));
  }
  // Bad data (an index out of range) stays an op, and an error when it runs.
  ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
  if (failed(evaluable.evaluate(operands, results)))
    return {};
  SmallVector<Value> constants;
  OpBuilder builder(op);
  for (auto [array, result] : llvm::zip(results, op->getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    constants.push_back(builder.create<prim::ConstantOp>(op->getLoc(), type, toKnown(array, type)));
  }
  return constants;
}
