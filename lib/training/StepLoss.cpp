// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/StepLoss.h"

#include "ir/nn/IndexBounds.h"
#include "support/Fault.h"
#include "support/ModuleLocation.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

void accc::describeIndices(StepFunction step) {
  func::FuncOp function = step.get();
  for (Role role : {Role::Input, Role::Target})
    for (unsigned i : step.argumentsOf(role))
      if (std::optional<IndexBounds> bounds = findIndexBounds(function.getArgument(i)))
        function.setArgAttr(i, kIndicesAttr, bounds->toAttr(function.getContext()));
}

/// The output that the loss is about: the named one, or the first.
static FailureOr<unsigned> findOutput(StepFunction step, StringRef name) {
  std::vector<std::string> known;
  for (unsigned i = 0, e = step.numResults(); i < e; ++i) {
    if (step.resultRole(i) != Role::Output)
      continue;
    if (name.empty() || step.resultName(i) == name)
      return i;
    known.push_back(step.resultName(i).str());
  }
  Location loc = wholeModel(step);
  if (name.empty())
    return emitError(loc) << "the model has no output for a loss";
  return emitUsageFault(loc) << unknownOutput(name, known);
}

LogicalResult accc::addLoss(StepFunction step, const LossChoice &choice) {
  FailureOr<unsigned> index = findOutput(step, choice.output);
  if (failed(index))
    return failure();
  Value output = step.result(*index);
  auto type = cast<RankedTensorType>(output.getType());
  Location loc = NameLoc::get(StringAttr::get(output.getContext(), step.resultName(*index)));

  // As PyTorch's backward(), which takes any shape of one element.
  if (!choice.loss && (type.getNumElements() != 1 || !isa<FloatType>(type.getElementType())))
    return emitError(loc) << "--loss output:" << choice.output
                          << " needs a scalar float, and it is " << type;
  for (unsigned i = 0, e = step.numResults(); i < e; ++i) {
    if (step.resultName(i) != "loss" || step.resultRole(i) != Role::Output)
      continue;
    if (choice.loss || i != *index)
      return emitError(wholeModel(step)) << "the model has an output named 'loss' already: use "
                                            "--loss output:loss, or rename it";
    // The model's own name for it is ours, too.
    if (type.getRank() == 0 && !prim::isHalf(type.getElementType())) {
      step.setResultRole(i, Role::Loss);
      return success();
    }
    step.eraseResult(i);
    break;
  }

  OpBuilder builder = step.builder();
  Value loss = output;
  if (choice.loss) {
    // Of 16-bit floats it is computed in f32, and so are the targets.
    Tensor wide = widen(Tensor(builder, withModule(loc, "loss"), output));
    FailureOr<RankedTensorType> targetType = choice.loss->targetType(wide.type(), loc);
    if (failed(targetType))
      return failure();
    Value target = step.addArgument("target", Role::Target, *targetType);
    loss = choice.loss->build(wide, target);
    describeIndices(step);
  }
  step.addResult(widen(Tensor(builder, loc, loss).reshape({})), "loss", Role::Loss);
  return success();
}

Value accc::findLoss(StepFunction step) {
  for (unsigned i = 0, e = step.numResults(); i < e; ++i)
    if (step.resultRole(i) == Role::Loss)
      return step.result(i);
  return {};
}
