// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/MakeTrainable.h"

#include "support/Fault.h"
#include "support/ProblemCollector.h"
#include "training/CheckNames.h"
#include "training/EntryPoints.h"
#include "training/OwnTraining.h"
#include "training/StepLoss.h"
#include "training/TrainedParameters.h"
#include "training/parallel/DataParallel.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace accc;

/// Reads the loss and the optimizer of a step, which stay empty after an error.
static TrainingPlan readPlan(Location loc, const TrainingOptions &options, bool &good) {
  TrainingPlan plan{options, {}, {}, {}, {}};
  auto read = [&](auto parsed, auto &result) {
    if (parsed) {
      result = std::move(*parsed);
      return;
    }
    good = false;
    emitUsageFault(loc) << llvm::toString(parsed.takeError());
  };
  if (!options.loss.empty())
    read(parseLoss(options.loss), plan.loss);
  if (!options.optimizer.empty())
    read(ParameterGroups::parse(options.optimizer, options.groups), plan.optimizer);
  if (!options.lossScale.empty())
    read(parseLossScale(options.lossScale), plan.lossScale);
  if (!options.average.empty())
    read(parseWeightAverage(options.average), plan.average);
  return plan;
}

/// Takes the training step that the model holds.
static LogicalResult takeTraining(StepFunction forward, const TrainingOptions &options) {
  Location loc = wholeModel(forward);
  for (auto [option, text] :
       {std::pair("--loss", options.loss), std::pair("--optimizer", options.optimizer)})
    if (!text.empty())
      return emitUsageFault(loc) << option << " " << text
                                 << ": the model holds its own training step (training_info), with "
                                    "its loss and optimizer, which is taken as it is; leave "
                                 << option << " out";
  if (!options.lossScale.empty())
    return emitUsageFault(loc)
           << askedLossScale(options)
           << ": the model holds its own training step (training_info), whose "
              "loss can no longer be scaled; --loss-scale none takes it as it is";
  if (!options.average.empty())
    return emitUsageFault(loc) << "--average-weights " << options.average
                               << ": the model holds its own training step (training_info), in "
                                  "which nothing says where its updates end";
  if (options.accumulates)
    return emitUsageFault(loc) << "--accumulate-gradients: the model holds its own training step "
                                  "(training_info), in which nothing says what a gradient is";
  if (options.dataParallel)
    return emitUsageFault(loc) << "--data-parallel: the model holds its own training step "
                                  "(training_info), in which nothing says what a gradient is";
  auto [train, eval] = splitTraining(forward);
  if (options.lossOnly && failed(returnLossOnly(train)))
    return failure();
  forward.get().erase();
  takeSeedAndStep(train);
  takeSeedAndStep(eval);
  return failure(failed(checkNames(train)) || failed(checkNames(eval)));
}

/// The model as eval_step, for a step without a loss.
static LogicalResult takeForward(StepFunction forward, const TrainingOptions &options) {
  bool good = true;
  for (auto [option, isGiven] :
       {std::pair("--optimizer", !options.optimizer.empty()),
        std::pair("--loss-scale", !options.lossScale.empty() && !options.isLossScaleImplied),
        std::pair("--loss-only", options.lossOnly),
        std::pair("--accumulate-gradients", options.accumulates),
        std::pair("--average-weights", !options.average.empty()),
        std::pair("--data-parallel", options.dataParallel),
        std::pair("--sync-batch-norm", options.syncsBatchNorm),
        std::pair("--train", !options.train.empty()),
        std::pair("--freeze", !options.freeze.empty())}) {
    good &= !isGiven;
    if (isGiven)
      emitUsageFault(wholeModel(forward)) << option << " needs a --loss";
  }
  if (!good)
    return failure();
  takeSeedAndStep(forward);
  forward.get().setName(kEvalStep);
  return checkNames(forward);
}

/// Fails where --sync-batch-norm would change nothing, or cannot.
static LogicalResult checkSyncBatchNorm(StepFunction forward, const TrainingOptions &options) {
  if (!options.syncsBatchNorm)
    return success();
  auto refuse = [&] { return emitUsageFault(wholeModel(forward)) << "--sync-batch-norm"; };
  if (!options.dataParallel)
    return refuse() << " needs --data-parallel: there are no other processes";
  if (holdsGradients(forward))
    return refuse() << ": the model holds the gradients of its loss, of batch norms that took the "
                       "statistics of one process's rows";
  if (!dependsOnBatch(forward))
    return refuse() << ": the model has no batch norm that takes statistics of a batch";
  return success();
}

/// A trainer gives one learning rate, that of the first optimizer. The other steps keep theirs in
/// proportion to it.
static LogicalResult keepProportions(Location loc, MutableArrayRef<TrainingPlan> plans) {
  std::optional<double> base;
  for (TrainingPlan &plan : plans) {
    if (!plan.optimizer)
      continue;
    double rate = plan.optimizer->getCommon().learningRate;
    if (!base)
      base = rate;
    if (rate == *base)
      continue;
    if (*base == 0.0)
      return emitUsageFault(loc) << "--optimizer " << plan.options.name << "="
                                 << plan.options.optimizer
                                 << ": its learning rate is kept in proportion to that of the "
                                    "first optimizer, which is 0";
    plan.optimizer->scaleRates(rate / *base);
  }
  return success();
}

/// Of several steps with losses of the model's own, each computes its own alone.
static void eraseOtherLosses(StepFunction step, const TrainingPlan &own,
                             ArrayRef<TrainingPlan> plans) {
  for (const TrainingPlan &plan : plans)
    for (unsigned i = step.numResults(); plan.loss && !plan.loss->loss && i-- > 0;)
      if (step.resultRole(i) == Role::Output && step.resultName(i) == plan.loss->output &&
          step.resultName(i) != own.loss->output)
        step.eraseResult(i);
}

/// Fails with an error for each group of parameters that has none: it would say nothing.
static LogicalResult checkGroups(Location loc, ArrayRef<TrainingPlan> plans,
                                 ArrayRef<std::vector<std::string>> trained) {
  if (llvm::none_of(plans, [](const TrainingPlan &plan) { return plan.optimizer.has_value(); }))
    return success();
  bool good = true;
  for (size_t g = 0; g < plans.front().options.groups.size(); ++g) {
    const NamePattern *pattern = nullptr;
    bool used = false, found = false;
    for (auto [plan, names] : llvm::zip_equal(plans, trained)) {
      if (!plan.optimizer)
        continue;
      const ParameterGroups::Group &group = plan.optimizer->getGroups()[g];
      pattern = &group.parameters;
      for (const std::string &name : names) {
        const OtherNames &others = plan.options.otherNames;
        found |= pattern->matches(name, others);
        used |= &plan.optimizer->choose(name, others) == group.optimizer.get();
      }
    }
    if (used)
      continue;
    good = false;
    emitUsageFault(loc) << pattern->getText()
                        << (found ? ": groups before it hold all parameters of such names"
                                  : ": no trained parameter has such a name");
  }
  return success(good);
}

LogicalResult accc::makeTrainable(ModuleOp module, ArrayRef<TrainingOptions> steps) {
  auto function = module.lookupSymbol<func::FuncOp>("forward");
  if (!function || !llvm::hasSingleElement(function.getBody()))
    return emitError(UnknownLoc::get(module.getContext()))
           << "the module has no function @forward of one block";
  StepFunction forward(function);
  Location loc = wholeModel(forward);
  describeIndices(forward);
  const TrainingOptions &first = steps.front();
  bool hasGradients = holdsGradients(forward);
  if (holdsTraining(forward) || (first.loss.empty() && !hasGradients)) {
    bool good = succeeded(chooseTrained(forward, first));
    auto take = holdsTraining(forward) ? takeTraining : takeForward;
    return success(succeeded(take(forward, first)) && good);
  }
  if (hasGradients && !first.loss.empty())
    return emitUsageFault(loc) << "--loss " << first.loss
                               << ": the model holds its own loss and the gradients of its "
                                  "parameters, which are taken as they are; leave --loss out";

  bool good = succeeded(checkSyncBatchNorm(forward, first));
  std::vector<TrainingPlan> plans;
  for (const TrainingOptions &options : steps)
    plans.push_back(readPlan(loc, options, good));
  good &= succeeded(keepProportions(loc, plans));
  std::vector<std::vector<std::string>> trained;
  for (const TrainingPlan &plan : plans) {
    StepFunction own = StepFunction::copy(function, "forward." + plan.options.name);
    good &= succeeded(chooseTrained(own, plan.options));
    if (hasGradients || plan.loss) {
      eraseOtherLosses(own, plan, plans);
      auto names = buildEntryPoints(own, plan);
      good &= succeeded(names);
      trained.push_back(succeeded(names) ? std::move(*names) : std::vector<std::string>());
    } else {
      checkDerivatives(own, "");
    }
    own.get().erase();
  }
  if (!good || failed(checkGroups(loc, plans, trained)))
    return failure();
  function.erase();
  for (auto step : module.getOps<func::FuncOp>())
    good &= succeeded(checkNames(StepFunction(step)));
  return success(good);
}

std::vector<Problem> accc::checkTrainable(ModuleOp module, ArrayRef<TrainingOptions> steps) {
  OwningOpRef<ModuleOp> copy = module.clone();
  ProblemCollector collector(module.getContext());
  (void)makeTrainable(*copy, steps);
  return collector.take();
}
