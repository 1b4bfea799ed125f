// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/optimizer/ApplyOptimizer.h"

#include "training/optimizer/OptimizerValues.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

void accc::applyOptimizer(StepFunction step, const ParameterGroups &groups, StringRef name,
                          const OtherNames &otherNames, ArrayRef<TrainedParameter> parameters) {
  OpBuilder builder = step.builder();
  auto apart = [&](Value value) { return behindBarrier(builder, value); };
  StepAdditions additions(step);
  auto update = [&](Tensor value, const std::string &name) {
    additions.addResult(value, name, Role::Update, name);
  };
  auto f32 = RankedTensorType::get({}, builder.getF32Type());
  auto i64 = RankedTensorType::get({}, builder.getI64Type());

  Tensor rate = apart(additions.addArgument("learning_rate", Role::LearningRate, f32));
  std::optional<Tensor> count;
  if (llvm::any_of(groups.all(), [](const Optimizer *each) { return each->countsSteps(); })) {
    Tensor done = apart(additions.addArgument(stateName(name, "step"), Role::OptimizerState, i64));
    Tensor next = done + 1.0;
    update(next, stateName(name, "step"));
    count = next.convert(builder.getF32Type());
  }

  SmallVector<Tensor> gradients;
  for (const TrainedParameter &each : parameters)
    gradients.push_back(widen(inOptimizer(builder, each.gradient)));
  if (std::optional<double> norm = groups.getCommon().clipGradNorm)
    clipGradNorm(gradients, *norm);

  DenseMap<const Optimizer *, SmallVector<Tensor>> prepared;
  for (auto [g, each] : llvm::enumerate(groups.all())) {
    std::vector<std::string> names = each->sharedSlots();
    SmallVector<Tensor> state;
    for (std::string &slot : names) {
      slot = stateName(name, g == 0 ? slot : "group" + std::to_string(g) + "." + slot);
      state.push_back(apart(additions.addArgument(slot, Role::OptimizerState, f32)));
    }
    prepared[each] = each->prepare(each->rateScale == 1.0 ? rate : rate * each->rateScale,
                                   each->countsSteps() ? count : std::nullopt, state);
    for (auto [name, value] : llvm::zip_equal(names, state))
      update(value, name);
  }
  for (auto [each, gradient] : llvm::zip_equal(parameters, gradients)) {
    const Optimizer &optimizer = groups.choose(each.name, otherNames);
    // 16-bit floats are updated in f32, and rounded once.
    auto type = cast<RankedTensorType>(each.value.getType());
    Tensor parameter = widen(apart(each.value));
    SmallVector<Tensor> local;
    for (Tensor scalar : prepared[&optimizer])
      local.push_back(scalar.convert(parameter.elementType()));
    std::vector<Optimizer::Slot> slots = optimizer.slots(type);
    SmallVector<Tensor> state;
    for (Optimizer::Slot &slot : slots) {
      slot.name = stateName(name, slot.name + "." + each.name);
      Value value = additions.addArgument(slot.name, Role::OptimizerState, slot.type);
      state.push_back(widen(apart(value)));
    }
    Tensor updated = optimizer.update(parameter, gradient, state, local);
    update(updated.convert(type.getElementType()), each.name);
    for (auto [slot, value] : llvm::zip_equal(slots, state))
      update(value.convert(type.getElementType()), slot.name);
  }
}
