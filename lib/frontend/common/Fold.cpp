// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Fold.h"

#include "ir/interfaces/Interfaces.h"
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

ReferenceArray toReference(DenseElementsAttr attribute) {
  auto type = cast<RankedTensorType>(attribute.getType());
  ReferenceArray array(type.getShape());
  if (isa<FloatType>(type.getElementType())) {
    for (auto [i, value] : llvm::enumerate(attribute.getValues<APFloat>())) {
      APFloat wide = value;
      bool lost = false;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      array.values[i] = wide.convertToDouble();
    }
    return array;
  }
  auto integer = cast<IntegerType>(type.getElementType());
  bool isSigned = !integer.isUnsigned() && integer.getWidth() > 1;
  for (auto [i, value] : llvm::enumerate(attribute.getValues<APInt>()))
    array.values[i] = isSigned ? static_cast<double>(value.getSExtValue())
                               : static_cast<double>(value.getZExtValue());
  return array;
}

/// Exact for what a double holds; saturates beyond, so that 2^63 - 1, which means "to the end", stays.
APInt toInteger(double value, IntegerType type) {
  unsigned width = type.getWidth();
  if (width == 1)
    return APInt(1, value != 0);
  if (type.isUnsigned()) {
    uint64_t wide = value >= 0x1p64 ? std::numeric_limits<uint64_t>::max()
                    : value < 0     ? static_cast<uint64_t>(static_cast<int64_t>(value))
                                    : static_cast<uint64_t>(value);
    return APInt(64, wide).trunc(width);
  }
  int64_t wide = value >= 0x1p63    ? std::numeric_limits<int64_t>::max()
                 : value <= -0x1p63 ? std::numeric_limits<int64_t>::min()
                                    : static_cast<int64_t>(value);
  return APInt(64, static_cast<uint64_t>(wide), /*isSigned=*/true).trunc(width);
}

DenseElementsAttr toAttribute(const ReferenceArray &array, RankedTensorType type) {
  if (auto element = dyn_cast<FloatType>(type.getElementType())) {
    SmallVector<APFloat> values;
    for (double value : array.values) {
      APFloat narrow(value);
      bool lost = false;
      narrow.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      values.push_back(narrow);
    }
    return DenseElementsAttr::get(type, values);
  }
  SmallVector<APInt> values;
  for (double value : array.values)
    values.push_back(toInteger(value, cast<IntegerType>(type.getElementType())));
  return DenseElementsAttr::get(type, values);
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
    constants.push_back(builder.create<prim::ConstantOp>(op->getLoc(), type, toAttribute(array, type)));
  }
  return constants;
}
