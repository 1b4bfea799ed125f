// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/Accumulation.h"

#include "training/optimizer/OptimizerValues.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

static std::string sumName(StringRef step, StringRef parameter) {
  return stateName(step, ("grad_sum." + parameter).str());
}

static std::string countName(StringRef step) { return stateName(step, "accumulated_batches"); }

void accc::addToSums(StepFunction step, ArrayRef<TrainedParameter> trained, StringRef name) {
  OpBuilder builder = step.builder();
  StepAdditions additions(step);
  auto add = [&](const std::string &variable, RankedTensorType type, auto more) {
    Value before = additions.addArgument(variable, Role::OptimizerState, type);
    additions.addResult(behindBarrier(builder, before) + more, variable, Role::Update, variable);
  };
  for (const TrainedParameter &each : trained)
    add(sumName(name, each.name), wideType(each.value), widen(inOptimizer(builder, each.gradient)));
  add(countName(name), countType(builder.getContext()), 1.0);
}

void accc::takeMeans(StepFunction step, MutableArrayRef<TrainedParameter> trained, StringRef name) {
  OpBuilder builder = step.builder();
  StepAdditions additions(step);
  auto read = [&](const std::string &variable, RankedTensorType type) {
    return behindBarrier(builder, additions.addArgument(variable, Role::OptimizerState, type));
  };
  Tensor count = max(read(countName(name), countType(builder.getContext())), 1.0);
  for (TrainedParameter &each : trained) {
    Tensor sum = read(sumName(name, each.name), wideType(each.value));
    each.gradient = sum / count.convert(sum.elementType());
  }
}

void accc::clearSums(StepFunction step, ArrayRef<TrainedParameter> trained, StringRef name) {
  OpBuilder builder = step.builder();
  StepAdditions additions(step);
  auto clear = [&](const std::string &variable, RankedTensorType type) {
    Value zeros = prim::full(builder, step.get().getLoc(), type, 0.0);
    additions.addResult(inOptimizer(builder, zeros), variable, Role::Update, variable);
  };
  for (const TrainedParameter &each : trained)
    clear(sumName(name, each.name), wideType(each.value));
  clear(countName(name), countType(builder.getContext()));
}
