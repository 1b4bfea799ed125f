// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/MakeTrainable.h"

#include "ir/nn/IndexBounds.h"
#include "support/DeadCode.h"
#include "support/Fault.h"
#include "support/ModuleLocation.h"
#include "support/ProblemCollector.h"
#include "training/CheckNames.h"
#include "training/EvaluationMode.h"
#include "training/OwnTraining.h"
#include "training/StepFunction.h"
#include "training/autodiff/Activity.h"
#include "training/autodiff/Differentiate.h"
#include "training/loss/Loss.h"
#include "training/optimizer/ApplyOptimizer.h"

#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

static RankedTensorType scalar(Type elementType) { return RankedTensorType::get({}, elementType); }

/// Where problems belong that are no node's.
static Location wholeModel(func::FuncOp function) { return UnknownLoc::get(function.getContext()); }

/// Marks the parameters that the user does not want trained.
static LogicalResult freezeParameters(StepFunction forward, const TrainingOptions &options) {
  Location loc = wholeModel(forward.get());
  bool good = true;
  for (const std::string &text : options.freeze) {
    llvm::Regex expression(text);
    std::string error;
    if (!expression.isValid(error)) {
      emitUsageFault(loc) << "--freeze " << text << ": " << error;
      good = false;
      continue;
    }
    auto matches = [&](StringRef name) {
      auto others = options.aliases.find(name.str());
      return expression.match(name) || (others != options.aliases.end() &&
                                        llvm::any_of(others->second, [&](const std::string &other) {
                                          return expression.match(other);
                                        }));
    };
    SmallVector<unsigned> found;
    std::string untrained; // that have such a name, but are no parameters
    for (unsigned i = 0, e = forward.get().getNumArguments(); i < e; ++i) {
      if (!matches(forward.argumentName(i)))
        continue;
      if (forward.argumentRole(i) == Role::Parameter)
        found.push_back(i);
      else if (forward.argumentRole(i) == Role::Buffer)
        untrained = forward.argumentName(i).str();
    }
    forward.freeze(found);
    if (found.empty() && untrained.empty()) // the importer may have taken it for a constant
      emitWarning(loc) << "--freeze " << text << ": no parameter has such a name";
    else if (found.empty())
      emitRemark(loc) << "--freeze " << text << ": '" << untrained
                      << "' is a buffer, and not trained in any case";
  }
  return success(good);
}

/// Says of the inputs that hold indices what these may be, for the messages of a run.
static void describeIndices(StepFunction step) {
  func::FuncOp function = step.get();
  for (Role role : {Role::Input, Role::Target})
    for (unsigned i : step.argumentsOf(role))
      if (std::optional<IndexBounds> bounds = findIndexBounds(function.getArgument(i)))
        function.setArgAttr(i, kIndicesAttr, bounds->toAttr(function.getContext()));
}

/// Replaces the random key by [seed, step], inputs of the step; if nothing is random, by nothing.
static void takeSeedAndStep(StepFunction step) {
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
  Location loc = wholeModel(step.get());
  if (name.empty())
    return emitError(loc) << "the model has no output for a loss";
  return emitError(loc) << unknownOutput(name, known);
}

/// Appends the result `loss`, and the input `target` where the loss compares with one.
static LogicalResult addLoss(StepFunction step, const LossChoice &choice) {
  FailureOr<unsigned> index = findOutput(step, choice.output);
  if (failed(index))
    return failure();
  Value output = step.result(*index);
  auto type = cast<RankedTensorType>(output.getType());
  Location loc = NameLoc::get(StringAttr::get(output.getContext(), step.resultName(*index)));

  if (!choice.loss && (type.getRank() != 0 || !isa<FloatType>(type.getElementType())))
    return emitError(loc) << "--loss output:" << choice.output
                          << " needs a scalar float, and it is " << type;
  for (unsigned i = 0, e = step.numResults(); i < e; ++i) {
    if (step.resultName(i) != "loss" || step.resultRole(i) != Role::Output)
      continue;
    if (choice.loss || i != *index)
      return emitError(wholeModel(step.get()))
             << "the model has an output named 'loss' already: use "
                "--loss output:loss, or rename it";
    // The model's own name for it is ours, too.
    if (type.getElementType().isF32()) {
      step.setResultRole(i, Role::Loss);
      return success();
    }
    step.eraseResult(i);
    break;
  }

  OpBuilder builder = step.builder();
  Value loss = output;
  if (choice.loss) {
    FailureOr<RankedTensorType> targetType = choice.loss->targetType(type, loc);
    if (failed(targetType))
      return failure();
    Value target = step.addArgument("target", Role::Target, *targetType);
    loss = choice.loss->build(Tensor(builder, withModule(loc, "loss"), output), target);
    describeIndices(step);
  }
  step.addResult(Tensor(builder, loc, loss).convert(builder.getF32Type()), "loss", Role::Loss);
  return success();
}

static Value findLoss(StepFunction step) {
  for (unsigned i = 0, e = step.numResults(); i < e; ++i)
    if (step.resultRole(i) == Role::Loss)
      return step.result(i);
  return {};
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

/// Whether the model itself computes its loss and the gradients of its parameters.
static bool holdsGradients(StepFunction forward) { return bool(findLoss(forward)); }

/// The gradient of each of the `wanted` parameters that a model holds itself; its result goes.
static SmallVector<Value> takeGradients(StepFunction step, ArrayRef<Value> wanted) {
  DenseMap<Value, Value> held;
  for (const TrainedParameter &each : takeGradientResults(step))
    held[each.value] = each.gradient;
  return llvm::map_to_vector(wanted, [&](Value parameter) { return held.lookup(parameter); });
}

/// Appends `grad.<parameter>` for every trained parameter, behind a barrier: an optimizer in the
/// same step changes nothing about how a gradient is computed. Those that do not reach the loss are
/// frozen, here and in `forward`: as in PyTorch, where they have no gradient, an optimizer leaves
/// them alone.
static LogicalResult addGradients(StepFunction step, StepFunction forward) {
  SmallVector<unsigned> trained;
  SmallVector<Value> wanted;
  for (unsigned i : step.argumentsOf(Role::Parameter)) {
    if (step.isFrozen(i))
      continue;
    trained.push_back(i);
    wanted.push_back(step.get().getArgument(i));
  }
  OpBuilder builder = step.builder();
  FailureOr<SmallVector<Value>> gradients = holdsGradients(forward)
                                                ? takeGradients(step, wanted)
                                                : differentiate(findLoss(step), wanted, builder);
  if (failed(gradients))
    return failure();

  StepAdditions additions(step);
  SmallVector<unsigned> unreached;
  for (auto [i, gradient] : llvm::zip_equal(trained, *gradients)) {
    StringRef name = step.argumentName(i);
    if (gradient) {
      Value apart = builder.create<prim::OptimizationBarrierOp>(gradient.getLoc(), gradient);
      additions.addResult(apart, ("grad." + name).str(), Role::Gradient);
      continue;
    }
    emitWarning(NameLoc::get(StringAttr::get(builder.getContext(), name)))
        << (holdsGradients(forward) ? "the model holds no gradient of the parameter, which"
                                    : "the parameter does not reach the loss, and")
        << " is not trained";
    unreached.push_back(i);
  }
  step.freeze(unreached);
  forward.freeze(unreached);
  if (unreached.size() == trained.size())
    return emitError(wholeModel(forward.get()))
           << "there is nothing to train: no parameter that is not frozen reaches the loss";
  return success();
}

/// apply_step: gradients in, new parameters out.
static void buildApplyStep(StepFunction gradStep, const Optimizer &optimizer) {
  func::FuncOp source = gradStep.get();
  StepFunction step =
      StepFunction::create(cast<ModuleOp>(source->getParentOp()), source.getLoc(), "apply_step");
  StepAdditions additions(step);
  SmallVector<TrainedParameter> trained;
  for (unsigned i : gradStep.argumentsOf(Role::Parameter)) {
    if (gradStep.isFrozen(i))
      continue;
    StringRef name = gradStep.argumentName(i);
    Value parameter = additions.addArgument(name, Role::Parameter, source.getArgument(i).getType());
    trained.push_back({name.str(), parameter, {}});
  }
  for (TrainedParameter &each : trained)
    each.gradient =
        additions.addArgument("grad." + each.name, Role::Gradient, each.value.getType());
  additions.commit();
  applyOptimizer(step, optimizer, trained);
}

/// Where the loss cannot be built: reports the ops without derivative before the output that it is
/// about, or else the first.
static void checkDerivatives(StepFunction step, StringRef name) {
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

static FailureOr<LossChoice> readLoss(Location loc, StringRef text) {
  llvm::Expected<LossChoice> choice = parseLoss(text);
  if (!choice)
    return emitUsageFault(loc) << llvm::toString(choice.takeError());
  return std::move(*choice);
}

static FailureOr<std::unique_ptr<Optimizer>> readOptimizer(Location loc, StringRef text) {
  llvm::Expected<std::unique_ptr<Optimizer>> optimizer = parseOptimizer(text);
  if (!optimizer)
    return emitUsageFault(loc) << llvm::toString(optimizer.takeError());
  return std::move(*optimizer);
}

/// Takes the training step that the model holds.
static LogicalResult takeTraining(StepFunction forward, const TrainingOptions &options) {
  Location loc = wholeModel(forward.get());
  for (auto [option, text] :
       {std::pair("--loss", options.loss), std::pair("--optimizer", options.optimizer)})
    if (!text.empty())
      return emitUsageFault(loc) << option << " " << text
                                 << ": the model holds its own training step (training_info), with "
                                    "its loss and optimizer, which is taken as it is; leave "
                                 << option << " out";
  auto [train, eval] = splitTraining(forward);
  forward.get().erase();
  takeSeedAndStep(train);
  takeSeedAndStep(eval);
  return failure(failed(checkNames(train)) || failed(checkNames(eval)));
}

LogicalResult accc::makeTrainable(ModuleOp module, const TrainingOptions &options) {
  auto function = module.lookupSymbol<func::FuncOp>("forward");
  if (!function || !llvm::hasSingleElement(function.getBody()))
    return emitError(UnknownLoc::get(module.getContext()))
           << "the module has no function @forward of one block";
  StepFunction forward(function);
  Location loc = wholeModel(function);
  bool good = succeeded(freezeParameters(forward, options));
  describeIndices(forward);

  if (holdsTraining(forward))
    return success(succeeded(takeTraining(forward, options)) && good);

  bool hasGradients = holdsGradients(forward);
  if (hasGradients && !options.loss.empty())
    return emitUsageFault(loc) << "--loss " << options.loss
                               << ": the model holds its own loss and the gradients of its "
                                  "parameters, which are taken as they are; leave --loss out";
  if (options.loss.empty() && !hasGradients) {
    if (!options.optimizer.empty())
      return emitUsageFault(loc) << "--optimizer needs a --loss";
    takeSeedAndStep(forward);
    function.setName("eval_step");
    return success(succeeded(checkNames(forward)) && good);
  }

  FailureOr<LossChoice> loss;
  if (!hasGradients)
    loss = readLoss(loc, options.loss);
  std::unique_ptr<Optimizer> optimizer;
  if (!options.optimizer.empty()) {
    auto read = readOptimizer(loc, options.optimizer);
    good &= succeeded(read);
    if (good)
      optimizer = std::move(*read);
  }

  StepFunction gradStep = StepFunction::copy(function, "grad_step");
  if (!hasGradients && (failed(loss) || failed(addLoss(gradStep, *loss)))) {
    checkDerivatives(gradStep, succeeded(loss) ? loss->output : "");
    return failure();
  }
  if (failed(addGradients(gradStep, forward)) || !good)
    return failure();
  takeSeedAndStep(gradStep);
  eraseDeadCode(gradStep.body());

  if (optimizer) {
    StepFunction trainStep = StepFunction::copy(gradStep.get(), "train_step");
    SmallVector<TrainedParameter> trained = takeGradientResults(trainStep);
    applyOptimizer(trainStep, *optimizer, trained);
    trainStep.get()->moveBefore(gradStep.get());
    buildApplyStep(gradStep, *optimizer);
  }

  StepFunction evalStep = StepFunction::copy(function, "eval_step");
  if (hasGradients)
    evalStep.eraseResultsOf(Role::Gradient);
  else if (failed(addLoss(evalStep, *loss)))
    return failure();
  useEvaluationMode(evalStep);
  takeSeedAndStep(evalStep);
  function.erase();

  for (auto step : module.getOps<func::FuncOp>())
    good &= succeeded(checkNames(StepFunction(step)));
  return success(good);
}

std::vector<Problem> accc::checkTrainable(ModuleOp module, const TrainingOptions &options) {
  OwningOpRef<ModuleOp> copy = module.clone();
  ProblemCollector collector(module.getContext());
  (void)makeTrainable(*copy, options);
  return collector.take();
}
