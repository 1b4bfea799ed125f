// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Fold.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/Prim.h"
#include "ir/prim/Tensor.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>
#include <limits>
#include <numeric>

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

bool accc::moves(Operation &op) {
  auto fusible = dyn_cast<Fusible>(op);
  auto isOfResult = [&](Type type) {
    return getElementTypeOrSelf(type) == getElementTypeOrSelf(op.getResult(0));
  };
  return fusible && fusible.getFusionClass() == FusionClass::View && op.getNumResults() == 1 &&
         op.getNumOperands() > 0 && !op.hasTrait<ReportsErrors>() &&
         llvm::all_of(op.getOperandTypes(), isOfResult);
}

DenseElementsAttr accc::knownValue(Value value) {
  if (auto constant = value.getDefiningOp<prim::ConstantOp>())
    return dyn_cast<DenseElementsAttr>(constant.getValue());
  return {};
}

/// The greatest integers mean "to the end", whatever is done to them.
static bool isToTheEnd(const ReferenceArray &array, Type type) {
  return type.isInteger(64) &&
         llvm::any_of(array.values, [](double value) { return std::abs(value) >= 0x1p63; });
}

/// 64-bit integers where the op moves them: a double of the interpreter does not hold each, but its
/// number.
static std::optional<SmallVector<Value>> moveKnown(Operation *op) {
  SmallVector<ReferenceArray> operands, results;
  SmallVector<APInt> all;
  for (Value operand : op->getOperands()) {
    ReferenceArray &numbers =
        operands.emplace_back(cast<RankedTensorType>(operand.getType()).getShape());
    std::iota(numbers.values.begin(), numbers.values.end(), static_cast<double>(all.size()));
    llvm::append_range(all, knownValue(operand).getValues<APInt>());
  }
  if (failed(cast<Evaluable>(op).evaluate(operands, results)))
    return std::nullopt;
  SmallVector<APInt> moved;
  for (double number : results[0].values)
    moved.push_back(all[static_cast<size_t>(number)]);
  OpBuilder builder(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return SmallVector<Value>{
      builder.create<prim::ConstantOp>(op->getLoc(), type, DenseElementsAttr::get(type, moved))};
}

/// The values of an op whose operands are all known, or nothing: what doubles do not hold stays to
/// be computed by the step.
static std::optional<SmallVector<Value>> evaluateKnown(Operation *op) {
  // Bad data (an index out of range) stays an op, and an error when it runs.
  ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
  if (getElementTypeOrSelf(op->getResult(0)).isInteger(64) && moves(*op))
    return moveKnown(op);
  SmallVector<ReferenceArray> operands, results;
  bool isExact = true, mayRound = false;
  auto isExactIn = [](const ReferenceArray &array, Value value) {
    return prim::areExact(array.values, getElementTypeOrSelf(value));
  };
  for (Value operand : op->getOperands()) {
    const ReferenceArray &array = operands.emplace_back(toReference(knownValue(operand)));
    isExact &= isExactIn(array, operand);
    mayRound |= isToTheEnd(array, getElementTypeOrSelf(operand));
  }
  if (failed(cast<Evaluable>(op).evaluate(operands, results)))
    return std::nullopt;
  for (auto [array, result] : llvm::zip_equal(results, op->getResults()))
    isExact &= isExactIn(array, result);
  if (!isExact && !mayRound)
    return std::nullopt;
  SmallVector<Value> constants;
  OpBuilder builder(op);
  for (auto [array, result] : llvm::zip(results, op->getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    constants.push_back(builder.create<prim::ConstantOp>(op->getLoc(), type, toKnown(array, type)));
  }
  return constants;
}

/// The same of a composite: decomposes it, and folds the parts one after the other.
static std::optional<SmallVector<Value>> evaluateParts(Operation *op) {
  Operation *before = op->getPrevNode();
  SmallVector<Value> values;
  OpBuilder builder(op);
  bool good;
  {
    ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
    good = succeeded(cast<Decomposable>(op).decompose(builder, values));
  }
  SmallVector<Operation *> parts;
  for (Operation *part = before ? before->getNextNode() : &op->getBlock()->front(); part != op;
       part = part->getNextNode())
    parts.push_back(part);
  for (Operation *part : parts) {
    if (!good || isa<prim::ConstantOp>(part))
      continue;
    SmallVector<Value> constants = foldConstant(part);
    good = !constants.empty();
    for (auto [result, constant] : llvm::zip(part->getResults(), constants)) {
      result.replaceAllUsesWith(constant);
      std::replace(values.begin(), values.end(), Value(result), constant);
    }
  }
  for (Operation *part : llvm::reverse(parts))
    if (!good || !isa<prim::ConstantOp>(part))
      part->erase();
  return good ? std::optional(values) : std::nullopt;
}

SmallVector<Value> accc::foldConstant(Operation *op) {
  // The user's functions run when the model does.
  if (isa<prim::ConstantOp, CustomCallLike>(op) || op->getNumResults() == 0)
    return {};
  if (!llvm::all_of(op->getResultTypes(), small) || !llvm::all_of(op->getOperandTypes(), small) ||
      !llvm::all_of(op->getOperands(), [](Value operand) { return !!knownValue(operand); }))
    return {};
  std::optional<SmallVector<Value>> constants;
  if (isa<Evaluable>(op))
    constants = evaluateKnown(op);
  else if (isa<Decomposable>(op))
    constants = evaluateParts(op);
  return constants.value_or(SmallVector<Value>());
}

/// The ops that `value` is computed with, in program order, where all that they start from are
/// small constants and values that `given` gives; else nothing.
static std::optional<SmallVector<Operation *>>
sliceOf(Value value, function_ref<DenseElementsAttr(Value)> given) {
  constexpr size_t kMostOps = 1000; // shape arithmetic is short
  llvm::SetVector<Operation *> ops;
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!small(next.getType()) || ops.size() > kMostOps)
      return std::nullopt;
    if (op && ops.insert(op))
      llvm::append_range(pending, op->getOperands());
    else if (!op && !given(next))
      return std::nullopt;
  }
  SmallVector<Operation *> ordered = ops.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

DenseElementsAttr accc::knownValue(Value value, function_ref<DenseElementsAttr(Value)> given) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return given(value);
  std::optional<SmallVector<Operation *>> slice = sliceOf(value, given);
  if (!slice)
    return {};
  // Evaluates a copy, in a block of its own.
  Block scratch;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointToEnd(&scratch);
  IRMapping mapping;
  for (Operation *op : *slice) {
    for (Value operand : op->getOperands())
      if (isa<BlockArgument>(operand) && !mapping.contains(operand))
        mapping.map(operand, builder.create<prim::ConstantOp>(op->getLoc(), given(operand)));
    Operation *copy = builder.clone(*op, mapping);
    for (auto [result, constant] : llvm::zip(op->getResults(), foldConstant(copy)))
      mapping.map(result, constant);
  }
  return knownValue(mapping.lookup(value));
}

FoldingStop accc::findFoldingStop(Value value, function_ref<DenseElementsAttr(Value)> given) {
  FoldingStop stop;
  while (Operation *op = value.getDefiningOp()) {
    stop.producer = op;
    auto unknown = llvm::find_if(op->getOperands(),
                                 [&](Value operand) { return !knownValue(operand, given); });
    if (unknown == op->operand_end())
      return stop;
    value = *unknown;
  }
  stop.argument = value;
  return stop;
}
