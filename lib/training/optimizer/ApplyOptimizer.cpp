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
  auto typeOf = [](const TrainedParameter &each) {
    return cast<RankedTensorType>(each.value.getType());
  };
  auto slotName = [&](const Optimizer::Slot &slot, const TrainedParameter &each) {
    return stateName(name, slot.name + "." + each.name);
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
  if (std::optional<double> value = groups.getCommon().clipGradValue)
    for (Tensor &gradient : gradients)
      gradient = min(max(gradient, -*value), *value);

  for (auto [g, optimizer] : llvm::enumerate(groups.all())) {
    auto shareName = [&](const std::string &slot) {
      return stateName(name, g == 0 ? slot : "group" + std::to_string(g) + "." + slot);
    };
    std::vector<std::string> sharedNames = optimizer->sharedSlots();
    SmallVector<Tensor> sharedState;
    for (const std::string &slot : sharedNames)
      sharedState.push_back(
          apart(additions.addArgument(shareName(slot), Role::OptimizerState, f32)));
    SmallVector<Tensor> shared =
        optimizer->prepare(optimizer->rateScale == 1.0 ? rate : rate * optimizer->rateScale,
                           optimizer->countsSteps() ? count : std::nullopt, sharedState);
    for (auto [slot, value] : llvm::zip_equal(sharedNames, sharedState))
      update(value, shareName(slot));

    std::vector<Optimizer::Update> updates;
    SmallVector<const TrainedParameter *> members;
    for (auto [each, gradient] : llvm::zip_equal(parameters, gradients)) {
      if (&groups.choose(each.name, otherNames) != optimizer)
        continue;
      // 16-bit floats are updated in f32, and rounded once.
      members.push_back(&each);
      updates.push_back({widen(apart(each.value)), gradient, {}});
      for (const Optimizer::Slot &slot : optimizer->slots(typeOf(each))) {
        Value value = additions.addArgument(slotName(slot, each), Role::OptimizerState, slot.type);
        updates.back().state.push_back(widen(apart(value)));
      }
    }
    optimizer->updateAll(updates, shared);
    for (auto [member, done] : llvm::zip_equal(members, updates)) {
      Type element = typeOf(*member).getElementType();
      update(done.parameter.convert(element), member->name);
      for (auto [slot, value] : llvm::zip_equal(optimizer->slots(typeOf(*member)), done.state))
        update(value.convert(element), slotName(slot, *member));
    }
  }
}
