// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/EntryPoints.h"

#include "support/DeadCode.h"
#include "support/Fault.h"
#include "training/Accumulation.h"
#include "training/EvaluationMode.h"
#include "training/StepLoss.h"
#include "training/autodiff/Activity.h"
#include "training/autodiff/Differentiate.h"
#include "training/optimizer/ApplyOptimizer.h"
#include "training/optimizer/CheckParameters.h"
#include "training/optimizer/OptimizerValues.h"
#include "training/parallel/DataParallel.h"

#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

static RankedTensorType scalar(Type elementType) { return RankedTensorType::get({}, elementType); }

void accc::takeSeedAndStep(StepFunction step) {
  auto keys = step.argumentsOf(Role::RandomKey); // the loop's own temporary would end before it
  for (unsigned i : llvm::reverse(keys)) {
    Value key = step.get().getArgument(i);
    if (!key.use_empty()) {
      OpBuilder builder = OpBuilder::atBlockBegin(&step.body());
      Type i64 = builder.getI64Type();
      Tensor seed(builder, key.getLoc(), step.addArgument("seed", Role::Seed, scalar(i64)));
      Tensor count(builder, key.getLoc(), step.addArgument("step", Role::Step, scalar(i64)));
      key.replaceAllUsesWith(prim::concatenate({seed.reshape({1}), count.reshape({1})}, 0));
    }
    step.eraseArgument(i);
  }
}

/// The parameters, gradients and names that a step's optimizer works on.
static SmallVector<TrainedParameter> takeGradientResults(StepFunction step) {
  llvm::StringMap<Value> parameters;
  for (unsigned i : step.argumentsOf(Role::Parameter))
    parameters[step.argumentName(i)] = step.get().getArgument(i);
  SmallVector<TrainedParameter> trained;
  for (unsigned i = 0, e = step.numResults(); i < e; ++i) {
    StringRef name = step.resultName(i);
    if (step.resultRole(i) == Role::Gradient && name.consume_front("grad."))
      trained.push_back({name.str(), parameters.lookup(name), step.result(i)});
  }
  step.eraseResultsOf(Role::Gradient);
  return trained;
}

/// Lets the optimizer start from what the model itself leaves in a parameter: as in PyTorch, where
/// forward wrote into it before the step of the optimizer.
static void startFromWrites(StepFunction step, MutableArrayRef<TrainedParameter> trained) {
  llvm::StringMap<TrainedParameter *> byName;
  for (TrainedParameter &each : trained)
    byName[each.name] = &each;
  for (unsigned i = step.numResults(); i-- > 0;) {
    if (step.resultRole(i) != Role::Update)
      continue;
    TrainedParameter *written = byName.lookup(resultText(step.get(), i, kUpdatesAttr));
    if (!written)
      continue;
    written->value = step.result(i);
    step.eraseResult(i);
  }
}

bool accc::holdsGradients(StepFunction forward) { return bool(findLoss(forward)); }

/// The gradient of each of the `wanted` parameters that a model holds itself; its result goes.
static SmallVector<Value> takeGradients(StepFunction step, ArrayRef<Value> wanted) {
  DenseMap<Value, Value> held;
  for (const TrainedParameter &each : takeGradientResults(step))
    held[each.value] = each.gradient;
  return llvm::map_to_vector(wanted, [&](Value parameter) { return held.lookup(parameter); });
}

/// Asks what is to become of trained parameters that may as well be constants, or warns of those
/// that are assumed to be none. The only one that a step can train is a parameter.
static LogicalResult checkClear(StepFunction step) {
  constexpr size_t kMost = 50;
  SmallVector<unsigned> unclear;
  size_t trained = 0;
  bool isAssumed = true;
  for (unsigned i : step.argumentsOf(Role::Parameter)) {
    trained += !step.isFrozen(i);
    if (step.isFrozen(i) || !step.get().getArgAttr(i, kUnclearAttr))
      continue;
    unclear.push_back(i);
    isAssumed &= step.get().getArgAttr(i, kAssumedAttr) != nullptr;
  }
  if (unclear.empty() || trained == 1)
    return success();
  std::string names, pattern;
  for (unsigned i : ArrayRef(unclear).take_front(kMost)) {
    StringRef name = step.argumentName(i);
    names += ((names.empty() ? "'" : ", '") + name + "' (" +
              argumentText(step.get(), i, kUnclearAttr) + ")")
                 .str();
    pattern += (pattern.empty() ? "" : "|") + llvm::Regex::escape(name);
  }
  bool isOne = unclear.size() == 1, isPart = unclear.size() > kMost;
  auto tell = [&](InFlightDiagnostic diagnostic) {
    diagnostic << "the file does not tell whether "
               << (isOne ? "this is a parameter or a constant: "
                         : "these are parameters or constants: ")
               << names << (isPart ? ", ..." : "") << "; "
               << (!isAssumed ? ""
                   : isOne    ? "it is trained; "
                              : "they are trained; ")
               << (isOne ? "a constant keeps its value" : "constants keep their values")
               << " with --freeze '^(" << pattern << (isPart ? "|...)$'" : ")$'")
               << ", and --train . trains everything that is not frozen";
  };
  tell(isAssumed ? emitWarning(wholeModel(step)) : emitError(wholeModel(step)));
  return success(isAssumed);
}

std::string accc::askedLossScale(const TrainingOptions &options) {
  return options.isLossScaleImplied ? "--precision fp16, which scales the loss"
                                    : "--loss-scale " + options.lossScale;
}

/// Fails where the loss that a plan scales has its gradients already, or nothing moves the scale.
static LogicalResult checkLossScale(StepFunction forward, const TrainingPlan &plan) {
  if (!plan.lossScale)
    return success();
  auto refuse = [&] {
    return emitUsageFault(wholeModel(forward)) << askedLossScale(plan.options) << ": ";
  };
  if (holdsGradients(forward))
    return refuse() << "the model holds the gradients of its loss, which can no longer be scaled; "
                       "--loss-scale none takes them as they are";
  if (plan.lossScale->isDynamic && !plan.optimizer)
    return refuse() << "an --optimizer moves a dynamic loss scale, and there is none; use "
                       "--loss-scale fixed=S, or none";
  return success();
}

/// Appends `grad.<parameter>` for every trained parameter, behind a barrier: an optimizer in the
/// same step changes nothing about how a gradient is computed. They are of the scaled loss where
/// the plan scales it. Parameters that do not reach the loss are frozen, here and in `forward`: as
/// in PyTorch, where they have no gradient, an optimizer leaves them alone.
static LogicalResult addGradients(StepFunction step, StepFunction forward,
                                  const TrainingPlan &plan) {
  SmallVector<unsigned> trained;
  SmallVector<Value> wanted;
  for (unsigned i : step.argumentsOf(Role::Parameter)) {
    if (step.isFrozen(i))
      continue;
    trained.push_back(i);
    wanted.push_back(step.get().getArgument(i));
  }
  Value scale;
  if (plan.lossScale)
    scale = LossScaler(*plan.lossScale, step, plan.options.name)
                .addScale(cast<RankedTensorType>(findLoss(step).getType()));
  OpBuilder builder = step.builder();
  FailureOr<SmallVector<Value>> gradients =
      holdsGradients(forward) ? takeGradients(step, wanted)
                              : differentiate(findLoss(step), wanted, builder, scale);
  if (failed(gradients))
    return failure();

  auto namedParameter = [&](StringRef name) { return NameLoc::get(builder.getStringAttr(name)); };
  StepAdditions additions(step);
  SmallVector<unsigned> unreached;
  for (auto [i, gradient] : llvm::zip_equal(trained, *gradients)) {
    StringRef name = step.argumentName(i);
    if (gradient) {
      if (matchPattern(gradient, m_AnyZeroFloat()))
        emitWarning(namedParameter(name))
            << "the gradient of the parameter is always zero: the parameter reaches the loss only "
               "through rounding, signs, what is overwritten or the like";
      Value apart = builder.create<prim::OptimizationBarrierOp>(gradient.getLoc(), gradient);
      additions.addResult(apart, ("grad." + name).str(), Role::Gradient);
      continue;
    }
    emitWarning(namedParameter(name))
        << (holdsGradients(forward) ? "the model holds no gradient of the parameter, which"
                                    : "the parameter does not reach the loss, and")
        << " is not trained";
    unreached.push_back(i);
  }
  step.freeze(unreached);
  forward.freeze(unreached);
  if (failed(checkClear(step)))
    return failure();
  if (unreached.size() == trained.size())
    return emitError(wholeModel(forward))
           << "there is nothing to train: no parameter that is not frozen reaches the loss";
  return success();
}

/// What the optimizer of a plan appends to a step. `isScaled`: the gradients are of a scaled loss.
static void addUpdates(StepFunction step, const TrainingPlan &plan,
                       MutableArrayRef<TrainedParameter> trained, bool isScaled) {
  std::optional<LossScaler> scaler;
  if (plan.lossScale)
    scaler.emplace(*plan.lossScale, step, plan.options.name);
  // Scaled ones, so that one that is not finite is none in any process.
  if (plan.options.dataParallel)
    averageGradients(step, trained);
  SmallVector<Value> given;
  for (TrainedParameter &each : trained) {
    given.push_back(each.gradient);
    if (scaler && isScaled)
      each.gradient = scaler->unscale(each.gradient);
  }
  applyOptimizer(step, *plan.optimizer, plan.options.name, plan.options.otherNames, trained);
  if (plan.average)
    averageWeights(step, *plan.average, trained, plan.options.name);
  if (scaler)
    scaler->skipUnlessFinite(given, /*movesScale=*/true);
}

/// Gives the gradients of the loss in place of those of the scaled one.
static void unscaleGradients(StepFunction step, const TrainingPlan &plan) {
  LossScaler scaler(*plan.lossScale, step, plan.options.name);
  SmallVector<Value> given;
  for (unsigned i = 0, e = step.numResults(); i < e; ++i) {
    if (step.resultRole(i) != Role::Gradient)
      continue;
    given.push_back(step.result(i));
    step.setResult(i, scaler.unscale(step.result(i)));
  }
  scaler.skipUnlessFinite(given, /*movesScale=*/false);
}

/// A step of a kind that takes the parameters that `gradStep` trains, and nothing yet to update
/// them by.
static std::pair<StepFunction, SmallVector<TrainedParameter>>
beginUpdate(StepFunction gradStep, StringRef kind, const TrainingPlan &plan) {
  func::FuncOp source = gradStep.get();
  StepFunction step = StepFunction::create(cast<ModuleOp>(source->getParentOp()), source.getLoc(),
                                           entryName(kind, plan.options.name));
  StepAdditions additions(step);
  SmallVector<TrainedParameter> trained;
  for (unsigned i : gradStep.argumentsOf(Role::Parameter)) {
    if (gradStep.isFrozen(i))
      continue;
    StringRef name = gradStep.argumentName(i);
    Value parameter = additions.addArgument(name, Role::Parameter, source.getArgument(i).getType());
    trained.push_back({name.str(), parameter, {}});
  }
  return {step, trained};
}

/// apply_step: gradients in, new parameters out.
static void buildApplyStep(StepFunction gradStep, const TrainingPlan &plan) {
  auto [step, trained] = beginUpdate(gradStep, kApplyStep, plan);
  OpBuilder builder = step.builder();
  StepAdditions additions(step);
  for (TrainedParameter &each : trained) {
    Type type = plan.lossScale ? wideType(each.value) : each.value.getType(); // LossScaler::unscale
    Value gradient = additions.addArgument("grad." + each.name, Role::Gradient, type);
    each.gradient = behindBarrier(builder, gradient);
  }
  additions.commit();
  addUpdates(step, plan, trained, /*isScaled=*/false);
}

/// accumulate_step: what grad_step does, but gradients are added to those of other batches.
static void buildAccumulateStep(StepFunction gradStep, const TrainingPlan &plan) {
  StepFunction step =
      StepFunction::copy(gradStep.get(), entryName(kAccumulateStep, plan.options.name));
  SmallVector<TrainedParameter> trained = takeGradientResults(step);
  if (plan.lossScale) {
    SmallVector<Value> given =
        llvm::map_to_vector(trained, [](const TrainedParameter &each) { return each.gradient; });
    LossScaler(*plan.lossScale, step, plan.options.name)
        .skipUnlessFinite(given, /*movesScale=*/false);
  }
  if (plan.options.dataParallel)
    shareUpdates(step);
  addToSums(step, trained, plan.options.name); // last: update_step looks whether they are finite
}

/// update_step: the update by the mean of what accumulate_step has added up.
static void buildUpdateStep(StepFunction gradStep, const TrainingPlan &plan) {
  auto [step, trained] = beginUpdate(gradStep, kUpdateStep, plan);
  takeMeans(step, trained, plan.options.name);
  addUpdates(step, plan, trained, /*isScaled=*/plan.lossScale.has_value());
  clearSums(step, trained, plan.options.name); // also where the update is skipped
}

/// Fails where gradients are to be added up, or weights averaged, that nothing updates.
static LogicalResult checkUpdates(StepFunction forward, const TrainingPlan &plan) {
  auto refuse = [&] { return emitUsageFault(wholeModel(forward)); };
  if (plan.options.accumulates && !plan.optimizer)
    return refuse()
           << "--accumulate-gradients: they are added up for an --optimizer, and there is none";
  if (plan.average && !plan.optimizer)
    return refuse() << "--average-weights " << plan.options.average
                    << ": they are averaged behind an --optimizer, and there is none";
  return success();
}

/// Fails where no step of the plan averages gradients, or evaluation changes a process's variables.
static LogicalResult checkDataParallel(StepFunction evalStep, const TrainingPlan &plan) {
  if (!plan.options.dataParallel)
    return success();
  auto refuse = [&] { return emitUsageFault(wholeModel(evalStep)) << "--data-parallel: "; };
  if (!plan.optimizer)
    return refuse() << "the processes average the gradients for an --optimizer, and there is none";
  for (unsigned i = 0, e = evalStep.numResults(); i < e; ++i)
    if (evalStep.resultRole(i) == Role::Update)
      return refuse() << "eval_step of the model changes '"
                      << resultText(evalStep.get(), i, kUpdatesAttr)
                      << "', which would then not be the same in all processes";
  return success();
}

void accc::checkDerivatives(StepFunction step, StringRef name) {
  Value output;
  for (unsigned i = 0, e = step.numResults(); i < e; ++i)
    if (step.resultRole(i) == Role::Output && isFloatTensor(step.result(i).getType()) &&
        (!output || step.resultName(i) == name))
      output = step.result(i);
  if (!output)
    return;
  SmallVector<Value> wanted;
  for (unsigned i : step.argumentsOf(Role::Parameter))
    if (!step.isFrozen(i))
      wanted.push_back(step.get().getArgument(i));
  OpBuilder builder = step.builder();
  (void)differentiate(sumAll(Tensor(builder, output.getLoc(), output)), wanted, builder);
}

LogicalResult accc::returnLossOnly(StepFunction step) {
  auto results = llvm::seq(step.numResults());
  if (llvm::none_of(results, [&](unsigned i) { return step.resultRole(i) == Role::Loss; }))
    return emitUsageFault(wholeModel(step))
           << "--loss-only: the training step of the model gives no loss";
  step.eraseResultsOf(Role::Output);
  eraseDeadCode(step.body(), [](Operation *op) { return isa<prim::OptimizationBarrierOp>(op); });
  return success();
}

FailureOr<std::vector<std::string>> accc::buildEntryPoints(StepFunction forward,
                                                           const TrainingPlan &plan) {
  const std::string &name = plan.options.name;
  StepFunction gradStep = StepFunction::copy(forward.get(), entryName(kGradStep, name));
  if (plan.options.syncsBatchNorm)
    synchronizeBatches(gradStep);
  if (plan.loss && failed(addLoss(gradStep, *plan.loss))) {
    checkDerivatives(gradStep, plan.loss->output);
    return failure();
  }
  if (failed(checkLossScale(forward, plan)) || failed(checkUpdates(forward, plan)) ||
      failed(addGradients(gradStep, forward, plan)))
    return failure();
  if (plan.options.lossOnly && failed(returnLossOnly(gradStep)))
    return failure();
  takeSeedAndStep(gradStep);
  eraseDeadCode(gradStep.body());
  if (plan.options.dataParallel)
    averageLoss(gradStep);

  std::vector<std::string> names;
  for (unsigned i : gradStep.argumentsOf(Role::Parameter))
    if (!gradStep.isFrozen(i))
      names.push_back(gradStep.argumentName(i).str());
  if (plan.optimizer && failed(checkParameters(gradStep, *plan.optimizer, plan.options.optimizer,
                                               plan.options.otherNames)))
    return failure();
  if (plan.optimizer) {
    StepFunction trainStep = StepFunction::copy(gradStep.get(), entryName(kTrainStep, name));
    SmallVector<TrainedParameter> trained = takeGradientResults(trainStep);
    if (plan.options.dataParallel)
      shareUpdates(trainStep);
    startFromWrites(trainStep, trained);
    addUpdates(trainStep, plan, trained, /*isScaled=*/true);
    trainStep.get()->moveBefore(gradStep.get());
    buildApplyStep(gradStep, plan);
    if (plan.options.accumulates) {
      buildAccumulateStep(gradStep, plan);
      buildUpdateStep(gradStep, plan);
    }
  }
  if (plan.lossScale)
    unscaleGradients(gradStep, plan);
  if (plan.options.dataParallel) // last: each process skips updates by its own gradients here
    shareUpdates(gradStep);

  StepFunction evalStep = StepFunction::copy(forward.get(), entryName(kEvalStep, name));
  evalStep.eraseResultsOf(Role::Gradient);
  if (plan.loss && failed(addLoss(evalStep, *plan.loss)))
    return failure();
  useEvaluationMode(evalStep);
  takeSeedAndStep(evalStep);
  if (failed(checkDataParallel(evalStep, plan)))
    return failure();
  if (plan.average)
    buildAverageEvalStep(evalStep, name);
  return names;
}
