// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/optimizer/ApplyOptimizer.h"

#include "training/optimizer/OptimizerValues.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {
/// Appends what optimizers read and give to a step.
class Applier {
public:
  /// `scalar`: what rates and the like are computed in.
  Applier(StepFunction step, StringRef name, Type scalar)
      : builder(step.builder()), additions(step), name(name),
        scalar(RankedTensorType::get({}, scalar)),
        rate(read("learning_rate", Role::LearningRate, this->scalar)) {}

  /// The number of updates with this one.
  void countStep() {
    const std::string slot = stateName(name, "step");
    Tensor next = read(slot, Role::OptimizerState, countType(builder.getContext())) + 1.0;
    update(next, slot);
    count = next.convert(scalar.getElementType());
  }

  /// `group`: in the order of ParameterGroups::all().
  void apply(const Optimizer &optimizer, size_t group,
             ArrayRef<std::pair<const TrainedParameter *, Tensor>> members);

private:
  Tensor read(const std::string &slot, Role role, RankedTensorType type) {
    return behindBarrier(builder, additions.addArgument(slot, role, type));
  }
  void update(Tensor value, const std::string &variable) {
    additions.addResult(value, variable, Role::Update, variable);
  }
  SmallVector<Tensor> prepare(const Optimizer &optimizer, size_t group);
  std::string slotName(const Optimizer::Slot &slot, const TrainedParameter &parameter) const {
    return stateName(name, slot.name + "." + parameter.name);
  }

  OpBuilder builder;
  StepAdditions additions;
  StringRef name;
  RankedTensorType scalar;
  Tensor rate;
  std::optional<Tensor> count;
};
} // namespace

static RankedTensorType typeOf(const TrainedParameter &parameter) {
  return cast<RankedTensorType>(parameter.value.getType());
}

SmallVector<Tensor> Applier::prepare(const Optimizer &optimizer, size_t group) {
  std::vector<std::string> names = optimizer.sharedSlots();
  SmallVector<Tensor> state;
  for (std::string &slot : names) {
    slot = stateName(name, group == 0 ? slot : "group" + std::to_string(group) + "." + slot);
    state.push_back(read(slot, Role::OptimizerState, scalar));
  }
  SmallVector<Tensor> shared =
      optimizer.prepare(optimizer.rateScale == 1.0 ? rate : rate * optimizer.rateScale,
                        optimizer.countsSteps() ? count : std::nullopt, state);
  for (auto [slot, value] : llvm::zip_equal(names, state))
    update(value, slot);
  return shared;
}

// 16-bit floats are updated in f32, and rounded once.
void Applier::apply(const Optimizer &optimizer, size_t group,
                    ArrayRef<std::pair<const TrainedParameter *, Tensor>> members) {
  SmallVector<Tensor> shared = prepare(optimizer, group);
  std::vector<Optimizer::Update> updates;
  for (auto [parameter, gradient] : members) {
    updates.push_back({widen(behindBarrier(builder, parameter->value)), gradient, {}});
    for (const Optimizer::Slot &slot : optimizer.slots(typeOf(*parameter)))
      updates.back().state.push_back(
          widen(read(slotName(slot, *parameter), Role::OptimizerState, slot.type)));
  }
  optimizer.updateAll(updates, shared);
  for (auto [member, done] : llvm::zip_equal(members, updates)) {
    const TrainedParameter &parameter = *member.first;
    Type element = typeOf(parameter).getElementType();
    update(done.parameter.convert(element), parameter.name);
    for (auto [slot, value] : llvm::zip_equal(optimizer.slots(typeOf(parameter)), done.state))
      update(value.convert(element), slotName(slot, parameter));
  }
}

void accc::applyOptimizer(StepFunction step, const ParameterGroups &groups, StringRef name,
                          const OtherNames &otherNames, ArrayRef<TrainedParameter> parameters) {
  Applier applier(step, name, scalarType(llvm::map_to_vector(parameters, [](const auto &each) {
                    return each.value;
                  })));
  if (llvm::any_of(groups.all(), [](const Optimizer *each) { return each->countsSteps(); }))
    applier.countStep();

  OpBuilder builder = step.builder();
  SmallVector<Tensor> gradients;
  for (const TrainedParameter &each : parameters)
    gradients.push_back(widen(inOptimizer(builder, each.gradient)));
  if (std::optional<double> norm = groups.getCommon().clipGradNorm)
    clipGradNorm(gradients, *norm);
  if (std::optional<double> value = groups.getCommon().clipGradValue)
    for (Tensor &gradient : gradients)
      gradient = min(max(gradient, -*value), *value);

  for (auto [group, optimizer] : llvm::enumerate(groups.all())) {
    SmallVector<std::pair<const TrainedParameter *, Tensor>> members;
    for (auto [each, gradient] : llvm::zip_equal(parameters, gradients))
      if (&groups.choose(each.name, otherNames) == optimizer)
        members.emplace_back(&each, gradient);
    applier.apply(*optimizer, group, members);
  }
}
