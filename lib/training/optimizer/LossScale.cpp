// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/optimizer/LossScale.h"

#include "support/ModuleLocation.h"
#include "support/Spec.h"
#include "support/Suggest.h"
#include "training/optimizer/OptimizerValues.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

/// Floats whose reciprocals are normal.
static constexpr double kLeast = 0x1p-126, kMost = 0x1p126;

llvm::Expected<LossScale> accc::parseLossScale(StringRef text) {
  Spec spec("--loss-scale", text);
  LossScale scale;
  auto fail = [](const std::string &message) {
    return llvm::createStringError(std::errc::invalid_argument, message.c_str());
  };
  if (spec.getName() == "dynamic") {
    scale.initial = spec.number("init_scale", scale.initial, kLeast, kMost);
    scale.growthFactor = spec.number("growth_factor", scale.growthFactor, 1.0, kMost);
    scale.backoffFactor = spec.number("backoff_factor", scale.backoffFactor, kLeast, 1.0);
    scale.growthInterval = spec.integer("growth_interval").value_or(scale.growthInterval);
    if (scale.growthInterval < 1)
      spec.addError("'growth_interval' must be at least 1");
    if (spec.getValue())
      spec.addError("dynamic takes no value; its first one is init_scale");
  } else if (spec.getName() == "fixed") {
    scale.isDynamic = false;
    if (StringRef(spec.getValue().value_or("")).getAsDouble(scale.initial) ||
        !(scale.initial >= kLeast && scale.initial <= kMost)) // NaN is a number to getAsDouble()
      spec.addError("needs a positive number that fits into a float, as in fixed=1024");
  } else {
    return fail("--loss-scale " + text.str() + ": there are dynamic, fixed=S and none" +
                didYouMean(spec.getName(), {"dynamic", "fixed", "none"}));
  }
  if (std::string error = spec.error(); !error.empty())
    return fail(error);
  return scale;
}

LossScaler::LossScaler(const LossScale &options, StepFunction step, StringRef name)
    : options(options), step(step), builder(step.builder()),
      scaleName(stateName(name, "loss_scale")), trackerName(stateName(name, "growth_tracker")) {}

Tensor LossScaler::started(Tensor state) const {
  return select(equal(state, 0.0), options.initial, state);
}

Value LossScaler::addScale(RankedTensorType loss) {
  Location loc = withModule(NameLoc::get(builder.getStringAttr("loss_scale")), "loss");
  auto type = RankedTensorType::get({}, builder.getF32Type());
  if (!options.isDynamic)
    return prim::full(builder, loc, loss, options.initial);
  return started(Tensor(builder, loc, step.addArgument(scaleName, Role::OptimizerState, type)))
      .convert(loss.getElementType());
}

Tensor LossScaler::readState(StringRef name, Type elementType) {
  auto states = step.argumentsOf(Role::OptimizerState);
  auto found = llvm::find_if(states, [&](unsigned i) { return step.argumentName(i) == name; });
  auto type = RankedTensorType::get({}, elementType);
  return readVariable(found != states.end() ? step.get().getArgument(*found)
                                            : step.addArgument(name, Role::OptimizerState, type));
}

Tensor LossScaler::readVariable(Value variable) {
  for (Operation *user : variable.getUsers())
    if (isa<prim::OptimizationBarrierOp>(user))
      return inOptimizer(builder, user->getResult(0));
  return behindBarrier(builder, variable);
}

Tensor LossScaler::readScale() { return started(readState(scaleName, builder.getF32Type())); }

Value LossScaler::unscale(Value gradient) {
  Tensor wide = widen(inOptimizer(builder, gradient));
  if (!options.isDynamic)
    return wide * (1.0 / options.initial);
  if (!inverse)
    inverse = 1.0 / readScale();
  return wide * inverse->convert(wide.elementType());
}

Value LossScaler::areFinite(ArrayRef<Value> gradients) {
  std::optional<Tensor> finite;
  for (Value gradient : gradients) {
    Tensor elements = isFinite(inOptimizer(builder, gradient));
    SmallVector<int64_t> all(elements.rank());
    std::iota(all.begin(), all.end(), 0);
    Tensor own = reduce(prim::ReduceKind::all, elements, all);
    finite = finite ? bitAnd(*finite, own) : own;
  }
  return *finite;
}

void LossScaler::skipUnlessFinite(ArrayRef<Value> gradients, bool movesScale) {
  // Apart, so that an optimizer is the same kernels with a scale and without.
  Tensor finite = behindBarrier(builder, areFinite(gradients));
  llvm::StringMap<Value> variables;
  for (unsigned i = 0, e = step.get().getNumArguments(); i < e; ++i)
    if (isVariable(step.argumentRole(i)))
      variables[step.argumentName(i)] = step.get().getArgument(i);
  for (unsigned i = 0, e = step.numResults(); i < e; ++i) {
    if (step.resultRole(i) != Role::Update)
      continue;
    Tensor old = readVariable(variables.at(resultText(step.get(), i, kUpdatesAttr)));
    step.terminator()->setOperand(i, select(finite, old.wrap(step.result(i)), old));
  }
  if (movesScale && options.isDynamic)
    moveScale(finite);
}

// torch._amp_update_scale_, which leaves out growth that overflows a float. Here so is that to a
// scale whose reciprocal is subnormal: for a step it is zero, and so would be all gradients.
void LossScaler::moveScale(Tensor finite) {
  Tensor scale = readScale(), tracker = readState(trackerName, builder.getI64Type());
  Tensor good = tracker + 1.0, grown = scale * options.growthFactor;
  Tensor isDue = equal(good, static_cast<double>(options.growthInterval));
  Tensor larger = select(bitAnd(isDue, grown <= kMost), grown, scale);
  auto update = [&](Tensor value, const std::string &name) {
    step.addResult(value, name, Role::Update, name);
  };
  update(select(finite, larger, scale * options.backoffFactor), scaleName);
  update(select(bitAnd(finite, logicalNot(isDue)), good, 0.0), trackerName);
}
