// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Fold.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/Cost.h"
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

bool isSmall(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  bool indices = tensor.getElementType().isInteger(64) && tensor.getRank() <= 1;
  return tensor.getNumElements() <= (indices ? kIndices : kElements);
}

// Where the import needs a value, it is computed whatever its size, for about a second.
constexpr double kMostWork = 1 << 26;
constexpr double kWorkOfOp = 1000;

double elementsOf(TypeRange types) {
  double sum = 0;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      sum += static_cast<double>(tensor.getNumElements());
  return sum;
}

/// What the interpreter does for an op: reading and writing an element is 1.
double workOf(Operation *op) {
  if (isa<prim::ConstantOp>(op))
    return kWorkOfOp;
  return kWorkOfOp + flopsOf(op) + elementsOf(op->getOperandTypes()) +
         elementsOf(op->getResultTypes());
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

/// The same bits, which need not be a number that a double of the interpreter holds.
static SmallVector<Value> castKnown(prim::BitcastOp op) {
  OpBuilder builder(op);
  DenseElementsAttr known = knownValue(op.getOperand());
  return {builder.create<prim::ConstantOp>(op.getLoc(), op.getType(),
                                           known.bitcast(getElementTypeOrSelf(op.getType())))};
}

/// The values of an op whose operands are all known, or nothing: what doubles do not hold stays to
/// be computed by the step.
static std::optional<SmallVector<Value>> evaluateKnown(Operation *op) {
  // Bad data (an index out of range) stays an op, and an error when it runs.
  ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
  if (getElementTypeOrSelf(op->getResult(0)).isInteger(64) && moves(*op))
    return moveKnown(op);
  if (auto cast = dyn_cast<prim::BitcastOp>(op))
    return castKnown(cast);
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

static SmallVector<Value> fold(Operation *op, function_ref<bool(Operation *)> mayEvaluate);

/// The same of a composite: decomposes it, and folds the parts one after the other.
static std::optional<SmallVector<Value>>
evaluateParts(Operation *op, function_ref<bool(Operation *)> mayEvaluate) {
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
    SmallVector<Value> constants = fold(part, mayEvaluate);
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

/// What foldConstant does, of ops that `mayEvaluate` agrees to.
static SmallVector<Value> fold(Operation *op, function_ref<bool(Operation *)> mayEvaluate) {
  // The user's functions run when the model does.
  if (isa<prim::ConstantOp, CustomCallLike>(op) || op->getNumResults() == 0)
    return {};
  if (!llvm::all_of(op->getOperands(), [](Value operand) { return !!knownValue(operand); }) ||
      !mayEvaluate(op))
    return {};
  std::optional<SmallVector<Value>> constants;
  if (isa<Evaluable>(op))
    constants = evaluateKnown(op);
  else if (isa<Decomposable>(op))
    constants = evaluateParts(op, mayEvaluate);
  return constants.value_or(SmallVector<Value>());
}

SmallVector<Value> accc::foldConstant(Operation *op) {
  return fold(op, [](Operation *each) {
    return llvm::all_of(each->getResultTypes(), isSmall) &&
           llvm::all_of(each->getOperandTypes(), isSmall);
  });
}

/// The ops that `value` is computed with, in program order, where all that they start from are
/// constants and values that are given, and their work is not too much; else nothing.
static std::optional<SmallVector<Operation *>> sliceOf(Value value, const GivenValues &given) {
  llvm::SetVector<Operation *> ops;
  SmallVector<Value> pending{value};
  double work = 0;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (op && ops.insert(op)) {
      work += workOf(op);
      llvm::append_range(pending, op->getOperands());
    }
    if (work > kMostWork || (!op && !given.has(next)))
      return std::nullopt;
  }
  SmallVector<Operation *> ordered = ops.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

DenseElementsAttr accc::knownValue(Value value, const GivenValues &given) {
  if (DenseElementsAttr constant = knownValue(value))
    return constant;
  if (isa<BlockArgument>(value))
    return given.has(value) ? given.of(value) : DenseElementsAttr();
  std::optional<SmallVector<Operation *>> slice = sliceOf(value, given);
  if (!slice)
    return {};
  // Evaluates a copy, in a block of its own.
  Block scratch;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointToEnd(&scratch);
  IRMapping mapping;
  double left = kMostWork;
  auto mayEvaluate = [&](Operation *op) { return (left -= workOf(op)) >= 0; };
  for (Operation *op : *slice) {
    for (Value operand : op->getOperands())
      if (isa<BlockArgument>(operand) && !mapping.contains(operand))
        mapping.map(operand, builder.create<prim::ConstantOp>(op->getLoc(), given.of(operand)));
    Operation *copy = builder.clone(*op, mapping);
    for (auto [result, constant] : llvm::zip(op->getResults(), fold(copy, mayEvaluate)))
      mapping.map(result, constant);
  }
  return knownValue(mapping.lookup(value));
}

FoldingStop accc::findFoldingStop(Value value, const GivenValues &given) {
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
