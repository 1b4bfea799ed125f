// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/interpreter/Interpreter.h"

#include "ir/prim/Prim.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace accc;

namespace {

using Arrays = SmallVector<ReferenceArray>;

/// Runs one block: the values computed so far, each with the number of uses still to come.
class Frame {
public:
  Frame(Block &block, ArrayRef<ReferenceArray> arguments, ChangeResults change)
      : block(block), change(change) {
    for (auto [argument, array] : llvm::zip_equal(block.getArguments(), arguments))
      define(argument, array);
  }

  /// Every op before `end`.
  LogicalResult runUntil(Operation *end) {
    for (Operation &op : block) {
      if (&op == end)
        break;
      Arrays operands = take(op.getOperands()), results;
      if (failed(runOp(op, operands, results)) || failed(checkResults(op, results)))
        return failure();
      change(op, results);
      for (auto [result, array] : llvm::zip_equal(op.getResults(), results))
        define(result, std::move(array));
    }
    return success();
  }

  /// The arrays of `operands`, moved out where this is their last use.
  Arrays take(ValueRange operands) {
    Arrays arrays;
    for (Value operand : operands) {
      auto slot = values.find(operand);
      assert(slot != values.end() && "used before it was computed");
      auto &[array, uses] = slot->second;
      if (--uses > 0) {
        arrays.push_back(array);
        continue;
      }
      arrays.push_back(std::move(array));
      values.erase(slot);
    }
    return arrays;
  }

private:
  void define(Value value, ReferenceArray array) {
    if (auto uses = std::distance(value.use_begin(), value.use_end()))
      values.try_emplace(value, std::move(array), uses);
  }

  LogicalResult runOp(Operation &op, ArrayRef<ReferenceArray> operands, Arrays &results) const;
  static LogicalResult checkResults(Operation &op, ArrayRef<ReferenceArray> results);

  Block &block;
  ChangeResults change;
  DenseMap<Value, std::pair<ReferenceArray, int64_t>> values;
};

/// Runs a block to its terminator, whose operands are the results.
LogicalResult runBlock(Block &block, ArrayRef<ReferenceArray> arguments, Arrays &results,
                       ChangeResults change) {
  Frame frame(block, arguments, change);
  if (failed(frame.runUntil(block.getTerminator())))
    return failure();
  results = frame.take(block.getTerminator()->getOperands());
  return success();
}

/// Decomposes a clone of the op in a function of its own, so that the model stays as it is.
LogicalResult runDecomposed(Operation &op, ArrayRef<ReferenceArray> operands, Arrays &results,
                            ChangeResults change) {
  OpBuilder builder(op.getContext());
  auto type = builder.getFunctionType(op.getOperandTypes(), op.getResultTypes());
  OwningOpRef<func::FuncOp> scratch = func::FuncOp::create(op.getLoc(), "decomposed", type);
  Block &block = *scratch->addEntryBlock();
  builder.setInsertionPointToStart(&block);
  Operation *clone = builder.clone(op);
  clone->setOperands(block.getArguments());
  builder.setInsertionPoint(clone);
  SmallVector<Value> values;
  if (failed(cast<Decomposable>(clone).decompose(builder, values)))
    return failure();
  if (ValueRange(values).getTypes() != clone->getResultTypes())
    return op.emitOpError("decomposes into values of the types (")
           << ValueRange(values).getTypes() << "), its results have (" << op.getResultTypes()
           << ")";
  clone->erase();
  builder.setInsertionPointToEnd(&block);
  builder.create<func::ReturnOp>(op.getLoc(), values);
  return runBlock(block, operands, results, change);
}

LogicalResult runFunction(func::FuncOp function, ArrayRef<ReferenceArray> arguments,
                          SmallVectorImpl<ReferenceArray> &results, ChangeResults change);

/// Segment by segment, on flat arrays.
LogicalResult runEach(prim::FusionEachOp fusion, ArrayRef<ReferenceArray> operands, Arrays &results,
                      ChangeResults change) {
  for (unsigned segment = 0; segment < fusion.segments(); ++segment) {
    int64_t elements = fusion.segmentElements(segment);
    std::unique_ptr<Region> body = fusion.instantiate(elements);
    Arrays inputs, outputs;
    for (auto [argument, array] : llvm::zip(
             body->getArguments(), operands.drop_front(segment * fusion.inputsPerSegment()))) {
      inputs.push_back(array);
      inputs.back().shape = to_vector(cast<RankedTensorType>(argument.getType()).getShape());
    }
    if (failed(runBlock(body->front(), inputs, outputs, change)))
      return failure();
    for (ReferenceArray &output : outputs) {
      auto type = cast<RankedTensorType>(fusion.getOutputs()[results.size()].getType());
      output.shape = to_vector(type.getShape());
      results.push_back(std::move(output));
    }
  }
  return success();
}

LogicalResult Frame::runOp(Operation &op, ArrayRef<ReferenceArray> operands,
                           Arrays &results) const {
  if (auto evaluable = dyn_cast<Evaluable>(op))
    return evaluable.evaluate(operands, results);
  if (isa<Decomposable>(op))
    return runDecomposed(op, operands, results, change);
  if (auto fusion = dyn_cast<prim::FusionOp>(op))
    return runBlock(fusion.getBody().front(), operands, results, change);
  if (auto fusion = dyn_cast<prim::FusionEachOp>(op))
    return runEach(fusion, operands, results, change);
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (callee && !callee.isExternal())
      return runFunction(callee, operands, results, change);
  }
  return op.emitOpError("has no value in the reference interpreter");
}

/// Holds a rule to its op's types: a wrong shape here would be a wrong read elsewhere.
LogicalResult Frame::checkResults(Operation &op, ArrayRef<ReferenceArray> results) {
  if (results.size() != op.getNumResults())
    return op.emitOpError("evaluates to ")
           << results.size() << " values, it has " << op.getNumResults() << " results";
  for (auto [i, array] : llvm::enumerate(results)) {
    auto type = cast<RankedTensorType>(op.getResult(i).getType());
    if (ArrayRef(array.shape) != type.getShape() || array.size() != type.getNumElements())
      return op.emitOpError("evaluates result ")
             << i << " to a value of shape [" << array.shape << "], its type is " << type;
  }
  return success();
}

LogicalResult runFunction(func::FuncOp function, ArrayRef<ReferenceArray> arguments,
                          SmallVectorImpl<ReferenceArray> &results, ChangeResults change) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError("has no body of one block to interpret");
  if (arguments.size() != function.getNumArguments())
    return function.emitOpError("takes ")
           << function.getNumArguments() << " arguments, " << arguments.size() << " were given";
  for (auto [i, array] : llvm::enumerate(arguments)) {
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (!type || ArrayRef(array.shape) != type.getShape())
      return function.emitOpError("argument ")
             << i << " has the type " << function.getArgumentTypes()[i]
             << ", the value given the shape [" << array.shape << "]";
  }
  Arrays values;
  if (failed(runBlock(function.getBody().front(), arguments, values, change)))
    return failure();
  results.assign(std::make_move_iterator(values.begin()), std::make_move_iterator(values.end()));
  return success();
}

} // namespace

LogicalResult accc::interpret(func::FuncOp function, ArrayRef<ReferenceArray> arguments,
                              SmallVectorImpl<ReferenceArray> &results) {
  return interpretChanged(function, arguments, results,
                          [](Operation &, MutableArrayRef<ReferenceArray>) {});
}

void accc::roundHalves(Operation &op, MutableArrayRef<ReferenceArray> results) {
  for (auto [result, array] : llvm::zip_equal(op.getResults(), results))
    if (Type element = getElementTypeOrSelf(result); element.isF16() || element.isBF16())
      for (double &value : array.values)
        value = roundToElement(element, value);
}

LogicalResult accc::interpretRounded(func::FuncOp function, ArrayRef<ReferenceArray> arguments,
                                     SmallVectorImpl<ReferenceArray> &results) {
  return interpretChanged(function, arguments, results, roundHalves);
}

LogicalResult accc::interpretChanged(func::FuncOp function, ArrayRef<ReferenceArray> arguments,
                                     SmallVectorImpl<ReferenceArray> &results,
                                     ChangeResults change) {
  return runFunction(function, arguments, results, change);
}
