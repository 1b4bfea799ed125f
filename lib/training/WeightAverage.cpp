// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/WeightAverage.h"

#include "support/Spec.h"
#include "support/Suggest.h"
#include "training/optimizer/OptimizerValues.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

bool accc::isWeightAverage(StringRef name) { return name == "ema"; }

llvm::Expected<WeightAverage> accc::parseWeightAverage(StringRef text) {
  Spec spec("--average-weights", text);
  WeightAverage average;
  auto fail = [](const std::string &message) {
    return llvm::createStringError(std::errc::invalid_argument, message.c_str());
  };
  if (!isWeightAverage(spec.getName()))
    return fail("--average-weights " + text.str() + ": there is ema" +
                didYouMean(spec.getName(), {"ema"}));
  if (spec.getValue())
    spec.addError("ema takes no value; what it keeps at each update is decay");
  average.decay = spec.number("decay", average.decay, 0.0, 1.0);
  average.warmsUp = spec.flag("warmup");
  if (std::string error = spec.error(); !error.empty())
    return fail(error);
  return average;
}

static std::string averageName(StringRef step, StringRef parameter) {
  return stateName(step, ("ema." + parameter).str());
}

static std::string countName(StringRef step) { return stateName(step, "n_averaged"); }

/// What a new value counts for behind `count` others.
static Tensor weightOf(Tensor count, const WeightAverage &average) {
  Tensor weight = count.full(1.0 - average.decay);
  if (average.warmsUp)
    weight = max(9.0 / (count + 10.0), weight);
  return select(equal(count, 0.0), 1.0, weight);
}

void accc::averageWeights(StepFunction step, const WeightAverage &average,
                          ArrayRef<TrainedParameter> trained, StringRef name) {
  llvm::StringMap<Value> updated;
  for (unsigned i = 0, e = step.numResults(); i < e; ++i)
    if (step.resultRole(i) == Role::Update)
      updated[resultText(step.get(), i, kUpdatesAttr)] = step.result(i);

  OpBuilder builder = step.builder();
  StepAdditions additions(step);
  auto read = [&](const std::string &variable, RankedTensorType type) {
    return behindBarrier(builder, additions.addArgument(variable, Role::OptimizerState, type));
  };
  auto update = [&](Tensor value, const std::string &variable) {
    additions.addResult(value, variable, Role::Update, variable);
  };
  Tensor count = read(countName(name), countType(builder.getContext()));
  for (const TrainedParameter &each : trained) {
    Tensor parameter = widen(inOptimizer(builder, updated.at(each.name)));
    Tensor before = read(averageName(name, each.name), wideType(each.value));
    Tensor weight = weightOf(count.convert(parameter.elementType()), average);
    update(lerp(before, parameter, weight), averageName(name, each.name));
  }
  update(count + 1.0, countName(name));
}

void accc::buildAverageEvalStep(StepFunction evalStep, StringRef name) {
  StepFunction step = StepFunction::copy(evalStep.get(), entryName(kAverageEvalStep, name));
  step.eraseResultsOf(Role::Update); // of parameters, into which the model writes
  OpBuilder builder = OpBuilder::atBlockBegin(&step.body());
  StepAdditions additions(step);
  auto read = [&](const std::string &variable, RankedTensorType type) {
    return Tensor(builder, step.get().getLoc(),
                  additions.addArgument(variable, Role::OptimizerState, type));
  };
  Tensor isNone = equal(read(countName(name), countType(builder.getContext())), 0.0);
  for (unsigned i : step.argumentsOf(Role::Parameter)) {
    Value parameter = step.get().getArgument(i);
    if (step.isFrozen(i) || parameter.use_empty())
      continue;
    Tensor average = read(averageName(name, step.argumentName(i)), wideType(parameter));
    Tensor own = average.wrap(parameter);
    Tensor used = select(isNone, own, average.convert(own.elementType()));
    parameter.replaceAllUsesExcept(used, used.get().getDefiningOp());
  }
}
