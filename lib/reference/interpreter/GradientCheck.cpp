// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/interpreter/GradientCheck.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/prim/Tensor.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

static bool isFloatTensor(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }

// ---- the reverse walk ----

namespace {

/// Sums cotangents as they come; every float is wanted.
class PlainGradients : public Gradients {
public:
  PlainGradients(OpBuilder &builder) : walkBuilder(builder) {}

  OpBuilder &builder() override { return walkBuilder; }
  bool has(Value result) override { return cotangents.contains(result); }
  Value of(Value result) override {
    if (Value cotangent = cotangents.lookup(result))
      return cotangent;
    Tensor tensor(walkBuilder, result.getLoc(), result);
    return tensor.full(0.0);
  }
  bool wants(Value operand) override { return isFloatTensor(operand.getType()); }
  void add(Value operand, Value cotangent) override {
    assert(operand.getType() == cotangent.getType() && "a cotangent has its value's type");
    Value &sum = cotangents[operand];
    if (!sum) {
      sum = cotangent;
      return;
    }
    Tensor total(walkBuilder, operand.getLoc(), sum);
    sum = total + total.wrap(cotangent);
  }

private:
  OpBuilder &walkBuilder;
  DenseMap<Value, Value> cotangents;
};

/// Replaces every op that has no rule of its own by its decomposition, until none is left.
LogicalResult decomposeWithoutRule(Block &block) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto decomposable = dyn_cast<Decomposable>(op);
      if (!decomposable || isa<Differentiable>(op))
        continue;
      OpBuilder builder(&op);
      SmallVector<Value> values;
      if (failed(decomposable.decompose(builder, values)))
        return failure();
      op.replaceAllUsesWith(values);
      op.erase();
      changed = true;
    }
  }
  return success();
}

LogicalResult walkBackwards(ArrayRef<Operation *> forward, Gradients &gradients) {
  for (Operation *op : llvm::reverse(forward)) {
    if (llvm::none_of(op->getResults(), [&](Value result) { return gradients.has(result); }) ||
        op->hasTrait<ZeroGradient>())
      continue;
    auto differentiable = dyn_cast<Differentiable>(op);
    if (!differentiable)
      return op->emitOpError("has no derivative rule");
    if (failed(differentiable.differentiate(gradients)))
      return failure();
  }
  return success();
}

} // namespace

OwningOpRef<func::FuncOp> accc::buildVjp(func::FuncOp function) {
  OwningOpRef<func::FuncOp> vjp = cast<func::FuncOp>(function->clone());
  vjp->setName((function.getName() + "_vjp").str());
  vjp->setResAttrsAttr(nullptr);
  Block &block = vjp->getBody().front();
  if (failed(decomposeWithoutRule(block)))
    return nullptr;

  Operation *terminator = block.getTerminator();
  SmallVector<Operation *> forward;
  for (Operation &op : block.without_terminator())
    forward.push_back(&op);
  SmallVector<Value> primals(block.getArguments());

  OpBuilder builder(terminator);
  PlainGradients gradients(builder);
  for (Value result : terminator->getOperands())
    if (isFloatTensor(result.getType()))
      gradients.add(result, block.addArgument(result.getType(), result.getLoc()));
  if (failed(walkBackwards(forward, gradients)))
    return nullptr;

  SmallVector<Value> results;
  for (Value primal : primals)
    if (isFloatTensor(primal.getType()))
      results.push_back(gradients.of(primal));
  terminator->setOperands(results);
  vjp->setArgAttrsAttr(nullptr);
  vjp->setFunctionType(
      builder.getFunctionType(block.getArgumentTypes(), ValueRange(results).getTypes()));
  return vjp;
}

// ---- the comparison ----

/// Weights without pattern or symmetry, between 0.5 and 1.5.
static double weight(int64_t i) {
  double x = static_cast<double>(i + 1) * 0.6180339887498949;
  return 0.5 + (x - std::floor(x));
}

/// The weighted sum of a function's float results; nothing if it cannot be evaluated.
static std::optional<double> weightedSum(func::FuncOp function,
                                         ArrayRef<ReferenceArray> arguments) {
  SmallVector<ReferenceArray> results;
  if (failed(interpret(function, arguments, results)))
    return std::nullopt;
  double sum = 0;
  for (auto [type, array] : llvm::zip_equal(function.getResultTypes(), results))
    for (int64_t i = 0; isFloatTensor(type) && i < array.size(); ++i)
      sum += weight(i) * array.values[i];
  return sum;
}

std::string accc::checkGradient(func::FuncOp function, ArrayRef<ReferenceArray> arguments,
                                const GradientTolerance &tolerance) {
  OwningOpRef<func::FuncOp> vjp = buildVjp(function);
  return vjp ? checkGradient(function, *vjp, arguments, tolerance) : "no derivative";
}

std::string accc::checkGradient(func::FuncOp function, func::FuncOp vjp,
                                ArrayRef<ReferenceArray> arguments,
                                const GradientTolerance &tolerance) {
  SmallVector<ReferenceArray> inputs(arguments), gradients;
  for (Type type : function.getResultTypes()) {
    if (!isFloatTensor(type))
      continue;
    ReferenceArray &cotangent = inputs.emplace_back(cast<RankedTensorType>(type).getShape());
    for (int64_t i = 0; i < cotangent.size(); ++i)
      cotangent.values[i] = weight(i);
  }
  if (failed(interpret(vjp, inputs, gradients)))
    return "the derivative cannot be evaluated";

  SmallVector<ReferenceArray> moved(arguments);
  auto gradient = gradients.begin();
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (!isFloatTensor(type))
      continue;
    for (int64_t i = 0; i < moved[number].size(); ++i) {
      double &x = moved[number].values[i], middle = x;
      x = middle + tolerance.step;
      std::optional<double> above = weightedSum(function, moved);
      x = middle - tolerance.step;
      std::optional<double> below = weightedSum(function, moved);
      x = middle;
      if (!above || !below)
        return "the function cannot be evaluated";
      double expected = (*above - *below) / (2 * tolerance.step), found = gradient->values[i];
      if (!(std::abs(found - expected) <=
            tolerance.absolute + tolerance.relative * std::abs(expected)))
        return llvm::formatv("d/d argument {0}[{1}] at {2}: the rule gives {3}, differences {4}",
                             number, i, middle, found, expected);
    }
    ++gradient;
  }
  return {};
}
