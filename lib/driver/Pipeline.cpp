// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Pipeline.h"

#include "codegen/Generate.h"
#include "driver/Boundaries.h"
#include "driver/CustomOps.h"
#include "driver/Files.h"
#include "driver/FuseModel.h"
#include "driver/Manifest.h"
#include "driver/Outputs.h"
#include "driver/ReadModel.h"
#include "driver/SharedVariables.h"
#include "driver/TrainingSteps.h"
#include "ir/exec/Exec.h"
#include "ir/nn/Nn.h"
#include "layout/Passes.h"
#include "schedule/Schedule.h"
#include "support/Log.h"
#include "support/WorkScope.h"
#include "training/MakeTrainable.h"
#include "training/loss/Loss.h"
#include "training/parallel/DataParallel.h"
#include "transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <list>

using namespace mlir;
using namespace accc;

Compilation::Compilation(MLIRContext &context, const CompileOptions &options)
    : context(context), options(options), problems(&context) {
  for (TargetChoice &choice : llvm::cantFail(chooseTargets(options.targets, options.archs))) {
    std::unique_ptr<const Target> target =
        llvm::cantFail(createTarget(choice.target, choice.archs));
    branches.push_back({std::move(choice), std::move(target), {}});
  }
  branch = &branches.front();
  context.getOrLoadDialect<prim::PrimDialect>()->customOperators =
      llvm::cantFail(loadCustomOperators(options.customOps));
}

void accc::registerDialects(MLIRContext &context) {
  context.loadDialect<func::FuncDialect, prim::PrimDialect, nn::NnDialect, exec::ExecDialect>();
}

// ---- the phases ----

static std::vector<TrainingOptions> trainingSteps(const Compilation &c) {
  return llvm::cantFail(readTrainingSteps(c.options, c.exported.aliases));
}

static LogicalResult importModel(Compilation &c) {
  if (failed(readModel(c)))
    return failure();
  if (c.onlyInspected)
    return success();
  if (succeeded(checkCustomCalls(c)))
    return success();
  // Nor does this hide what the next phase would find.
  for (const Problem &problem : checkTrainable(*c.module, trainingSteps(c)))
    c.problems.add(problem);
  return failure();
}

namespace {
/// Says which entry point a pass works on.
class WorkInstrumentation final : public PassInstrumentation {
  void runBeforePass(Pass *, Operation *op) override {
    if (isa<func::FuncOp>(op)) // else MLIR's own, which runs the pass on all functions
      scopes().emplace_back(op);
  }
  void runAfterPass(Pass *, Operation *op) override {
    if (isa<func::FuncOp>(op))
      scopes().pop_back();
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override { runAfterPass(pass, op); }

  /// Of this thread: passes run on functions at the same time.
  static std::list<WorkScope> &scopes() {
    static thread_local std::list<WorkScope> all;
    return all;
  }
};
} // namespace

LogicalResult accc::runPass(Compilation &c, ModuleOp module, std::unique_ptr<Pass> pass) {
  TimedPart part(pass->getArgument());
  PassManager passes(&c.context);
  passes.enableVerifier(false); // the pipeline verifies after each phase
  passes.addInstrumentation(std::make_unique<WorkInstrumentation>());
  if (pass->getOpName() == ModuleOp::getOperationName())
    passes.addPass(std::move(pass));
  else
    passes.addNestedPass<func::FuncOp>(std::move(pass));
  return passes.run(module);
}

static LogicalResult runPasses(Compilation &c, std::unique_ptr<Pass> pass) {
  return runPass(c, *c.module, std::move(pass));
}

/// What the precision stores the factors and results of contractions in; empty: what they are in.
static StringRef roundedType(const CompileOptions &options) {
  return llvm::StringSwitch<StringRef>(options.precision)
      .Case("bf16", "bf16")
      .Case("fp16", "f16")
      .Default("");
}

// Masks and parts are those of the model only before the derivative. A library keeps scores in f32,
// also where a model in 16-bit floats rounds them.
static LogicalResult formAttention(Compilation &c) {
  bool has = llvm::any_of(c.branches, [](const auto &each) { return each.target->hasAttention(); });
  if (!has || !c.options.libraryAttention.value_or(true))
    return success();
  // Of f16 no number is low enough for a mask (FormAttentionPass), which --precision is to make of
  // f32.
  StringRef rounded = roundedType(c.options);
  bool onlyUnmasked = !c.options.libraryAttention || rounded == "f16", onlyHalf = rounded.empty();
  return failure(failed(runPasses(c, createRecognizeAttentionPass(
                                         {/*widenScores=*/true, onlyUnmasked, onlyHalf}))) ||
                 failed(runPasses(c, createFormAttentionPass({onlyUnmasked, onlyHalf}))));
}

static LogicalResult makeModelTrainable(Compilation &c) {
  if (failed(formAttention(c)) || failed(runPasses(c, createSinkViewsPass())))
    return failure();
  return makeTrainable(*c.module, trainingSteps(c));
}

LogicalResult accc::decomposeModel(Compilation &c) {
  // Windows behind the composites that slide them.
  return failure(failed(runPasses(c, createDecomposePass())) ||
                 failed(runPasses(c, createSplitWindowsPass())));
}
static LogicalResult simplifyModel(Compilation &c) {
  StringRef rounded = roundedType(c.options);
  if (failed(runPasses(c, createSimplifyPass({/*keepFactors=*/rounded == "f16"}))))
    return failure();
  // After the derivative, so that one rule rounds forward and backward pass, and of few primitives.
  // It shows each reader what was rounded in views of its own, which are simplified in turn.
  if (!rounded.empty() && (failed(runPasses(c, createRoundContractionsPass({rounded.str()}))) ||
                           failed(runPasses(c, createSimplifyPass()))))
    return failure();
  // None is there twice any more, and they still stand as the model has them at all sizes.
  numberExchanges(*c.module);
  return success();
}
static bool hasAttention(ModuleOp module) {
  return module.walk([](AttentionLike) { return WalkResult::interrupt(); }).wasInterrupted();
}
static LogicalResult layOutModel(Compilation &c) {
  const auto &[target, archs] = c.branch->choice;
  bool tf32 = c.options.precision == "tf32";
  // What no library runs whole lies as other contractions do; simplified, as it is built op by op.
  if (hasAttention(*c.module) &&
      (failed(runPasses(c, createExpandAttentionPass({target, archs}))) ||
       failed(runPasses(c, createViewAttentionOperandsPass({target, archs}))) ||
       failed(runPasses(c, createSimplifyPass()))))
    return failure();
  if (c.options.libraryAttention.value_or(false) && c.target().hasAttention() &&
      !hasAttention(*c.module))
    c.problems.add({.message = "--library-attention: the library runs no attention of the model "
                               "whole: it takes 16-bit floats (of --precision bf16 or fp16, or of "
                               "the model), 8 to 128 features that are a multiple of 8, and a mask "
                               "that says where to look, if any",
                    .severity = Problem::Severity::Warning});
  // Products that factorizations are made of first; then variables: convolutions and what lies
  // between them are then laid out around their filters. Contractions read what that leaves;
  // padding asks how, in the end, their operands lie. Packing last, as it takes only operands that
  // need no other copy.
  return failure(failed(runPasses(c, createSplitFactorizationsPass({target, archs}))) ||
                 failed(runPasses(c, createLayOutVariablesPass({target, archs, tf32}))) ||
                 failed(runPasses(c, createLayOutConvolutionsPass({target, archs, tf32}))) ||
                 failed(runPasses(c, createLayOutContractionsPass({target, archs}))) ||
                 failed(runPasses(c, createPadContractionsPass({target, archs, tf32}))) ||
                 failed(runPasses(c, createPackOperandsPass({target, archs}))));
}
static LogicalResult scheduleModel(Compilation &c) {
  FailureOr<OwningOpRef<ModuleOp>> program = schedule(*c.module);
  if (failed(program))
    return failure();
  c.module = std::move(*program);
  return success();
}

/// The program for all sizes, from those for each; of one size it is that.
static LogicalResult mergeModels(Compilation &c) {
  std::vector<SizedProgram> &programs = c.branch->programs;
  if (programs.empty())
    return success();
  if (programs.size() == 1) {
    c.module = std::move(programs.front().program);
    programs.clear();
    return success();
  }
  FailureOr<OwningOpRef<ModuleOp>> program = mergePrograms(programs);
  if (failed(program))
    return failure();
  c.module = std::move(*program);
  programs.clear();
  return verifySchedule(*c.module);
}

static LogicalResult generateModel(Compilation &c) { return writeLibrary(c); }

// ---- the pipeline ----

namespace {
enum class Runs { Size, SizeAndTarget, Target, Once };

struct PhaseEntry {
  const char *name;
  LogicalResult (*run)(Compilation &);
  Runs runs;
};
constexpr PhaseEntry kPhases[] = {
#define ACCC_PHASE(name, function, runs) {#name, function, Runs::runs},
#include "driver/Phases.def"
};
} // namespace

std::vector<std::string> accc::phaseNames() {
  std::vector<std::string> names;
  for (const PhaseEntry &phase : kPhases)
    names.push_back(phase.name);
  return names;
}

LogicalResult accc::runPhase(Compilation &c, StringRef name) {
  for (const PhaseEntry &phase : kPhases)
    if (name == phase.name)
      return phase.run(c);
  llvm_unreachable("no phase has this name");
}

static bool isForSize(const PhaseEntry &phase) {
  return phase.runs == Runs::Size || phase.runs == Runs::SizeAndTarget;
}
static bool isForTarget(const PhaseEntry &phase) {
  return phase.runs == Runs::SizeAndTarget || phase.runs == Runs::Target;
}

/// The target, where there are several, and the sizes, where there are several: "cuda seq=64".
static std::string describeRun(const Compilation &c, const TargetBranch &branch,
                               const std::string &sizes) {
  if (c.branches.size() == 1)
    return sizes;
  return branch.choice.target + (sizes.empty() ? "" : " ") + sizes;
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().assumeVerified());
  return text;
}

std::string accc::printModel(Compilation &c) {
  std::string text;
  auto add = [&](const std::string &what, ModuleOp module) {
    text += "// ----- " + what + "\n" + print(module);
  };
  for (SizedProgram &sized : c.models)
    add(sized.sizes, *sized.program);
  for (TargetBranch &branch : c.branches)
    for (SizedProgram &sized : branch.programs)
      add(describeRun(c, branch, sized.sizes), *sized.program);
  return c.module ? print(*c.module) : text;
}

std::vector<TargetProgram> accc::programsOf(Compilation &c) {
  if (c.branches.size() == 1)
    return {{*c.module, &c.target()}};
  std::vector<TargetProgram> programs;
  for (TargetBranch &branch : c.branches)
    programs.push_back({*branch.programs.front().program, branch.target.get()});
  return programs;
}

/// Writes <number>-<phase>.mlir, if the user asked for dumps; of several targets and of several
/// sizes each to a folder of its own.
static LogicalResult dump(Compilation &c, const PhaseEntry &phase) {
  if (c.options.dumpDir.empty())
    return success();
  llvm::SmallString<128> path(c.options.dumpDir);
  if (isForTarget(phase) && c.branches.size() > 1)
    llvm::sys::path::append(path, c.branch->choice.target);
  if (isForSize(phase))
    llvm::sys::path::append(path, c.sizes.text);
  if (std::error_code code = llvm::sys::fs::create_directories(path)) {
    c.problems.add({.message = path.str().str() + ": " + code.message(), .fault = Fault::Machine});
    return failure();
  }
  auto number = std::to_string(&phase - kPhases + 1);
  llvm::sys::path::append(path, number + "-" + phase.name + ".mlir");
  if (llvm::Error error = writeTextAtomically(path, print(*c.module))) {
    c.problems.add({.message = llvm::toString(std::move(error)), .fault = Fault::Machine});
    return failure();
  }
  return success();
}

/// Keeps the IR that a failing phase was given.
static void writeReproducer(Compilation &c, const PhaseEntry &phase, StringRef before) {
  std::string stem =
      c.options.output.empty() ? llvm::sys::path::stem(c.options.model).str() : c.options.output;
  std::string path = stem + ".reproducer.mlir";
  std::string text = std::string("// ") + kCompilerVersion + ": the phase '" + phase.name +
                     "' fails on this module.\n// " + describeOptions(c.options) + "\n" +
                     before.str();
  if (llvm::Error error = writeTextAtomically(path, text))
    c.problems.add({.message = llvm::toString(std::move(error)), .fault = Fault::Machine});
  else
    c.reproducer = path;
}

static LogicalResult verifyModule(ModuleOp module) {
  TimedPart part("verify");
  return verify(module);
}

/// Runs one phase, verifies what it gave and dumps it.
static ExitCode runGuarded(Compilation &c, const PhaseEntry &phase) {
  // A phase works on a copy, so that what it was given can be kept.
  OwningOpRef<ModuleOp> before;
  if (c.module)
    before = c.module->clone();
  c.problems.forgetFaults();
  if (failed(phase.run(c))) {
    // A phase that fails without a word is wrong itself.
    ExitCode blame = exitCodeFor(c.problems.gravestFault().value_or(Fault::Bug));
    if (blame == ExitCode::Bug)
      writeReproducer(c, phase, before ? print(*before) : printModel(c));
    return blame;
  }
  if (!c.module)
    return ExitCode::Done; // the programs of several targets, which no phase changes any more
  if (failed(verifyModule(*c.module))) {
    c.problems.add(
        {.message = std::string("bug in accc: the phase '") + phase.name + "' made invalid IR",
         .fault = Fault::Bug});
    writeReproducer(c, phase, before ? print(*before) : "");
    return ExitCode::Bug;
  }
  if (failed(checkBoundary(*c.module, phase.name))) {
    c.problems.add({.message = std::string("bug in accc: the phase '") + phase.name +
                               "' made IR that the next cannot take",
                    .fault = Fault::Bug});
    writeReproducer(c, phase, before ? print(*before) : "");
    return ExitCode::Bug;
  }
  if (failed(dump(c, phase)))
    return ExitCode::Machine;
  if (c.afterPhase && failed(c.afterPhase(phase.name)))
    return ExitCode::Data;
  return ExitCode::Done;
}

namespace {
/// The phases of one compilation, run for all that they run for.
class Pipeline {
public:
  Pipeline(Compilation &c, StringRef lastPhase, const Progress &progress);
  ExitCode run();

private:
  ExitCode runPhases(Runs runs);
  ExitCode runAtSizes();
  ExitCode runForTargets();
  /// Whether the last phase is one of these, or an earlier one.
  bool endsWith(Runs runs) const { return last && last->runs <= runs; }

  Compilation &c;
  const PhaseEntry *last = nullptr; // none: all run
  const Progress &progress;
  std::vector<Sizes> all;
  int count = 0, number = 0; // of phases, for who watches
};
} // namespace

Pipeline::Pipeline(Compilation &c, StringRef lastPhase, const Progress &progress)
    : c(c), progress(progress), all(allSizes(c.options)) {
  for (const PhaseEntry &phase : kPhases) {
    count += static_cast<int>((isForSize(phase) ? all.size() : 1) *
                              (isForTarget(phase) ? c.branches.size() : 1));
    if (lastPhase == phase.name)
      last = &phase;
  }
}

/// The phases of one sort, at c.sizes and for c.branch.
ExitCode Pipeline::runPhases(Runs runs) {
  for (const PhaseEntry &phase : kPhases) {
    if (phase.runs != runs)
      continue;
    std::string sizes = isForSize(phase) ? c.sizes.text : "";
    std::string what = isForTarget(phase) ? describeRun(c, *c.branch, sizes) : sizes;
    if (progress)
      progress(phase.name + (what.empty() ? "" : " " + what), ++number, count);
    setWorkPhase(phase.name);
    TimedPart part(phase.name, what);
    Clock start = Clock::now();
    if (ExitCode code = runGuarded(c, phase); code != ExitCode::Done)
      return code;
    if (isLogged(LogLevel::Debug))
      log(LogLevel::Debug,
          llvm::formatv("{0}{1}{2}: {3:f1} ms", phase.name, what.empty() ? "" : " ", what,
                        (Clock::now() - start).wall * 1e3));
    if (last == &phase)
      break;
  }
  return ExitCode::Done;
}

/// Whether other sizes and targets are tried, so that all that is wrong with the model and the
/// options is told at once.
static bool goesOn(ExitCode code) {
  return code == ExitCode::Done || code == ExitCode::Data || code == ExitCode::Usage;
}

/// All that runs at c.sizes.
ExitCode Pipeline::runAtSizes() {
  if (ExitCode code = runPhases(Runs::Size); code != ExitCode::Done)
    return code;
  if (endsWith(Runs::Size)) {
    if (all.size() > 1)
      c.models.push_back({c.sizes.text, std::move(c.module)});
    return ExitCode::Done;
  }
  ExitCode worst = ExitCode::Done;
  OwningOpRef<ModuleOp> model = std::move(c.module);
  for (TargetBranch &branch : c.branches) {
    c.branch = &branch;
    c.module =
        &branch == &c.branches.back() ? std::move(model) : OwningOpRef<ModuleOp>(model->clone());
    ExitCode code = runPhases(Runs::SizeAndTarget);
    if (!goesOn(code))
      return code;
    worst = std::max(worst, code);
    if (all.size() > 1 || c.branches.size() > 1)
      branch.programs.push_back({c.sizes.text, std::move(c.module)});
  }
  return worst;
}

/// All that runs for a target at all sizes together.
ExitCode Pipeline::runForTargets() {
  for (TargetBranch &branch : c.branches) {
    c.branch = &branch;
    if (ExitCode code = runPhases(Runs::Target); code != ExitCode::Done)
      return code;
    if (c.branches.size() > 1)
      branch.programs.push_back({"", std::move(c.module)});
  }
  return ExitCode::Done;
}

ExitCode Pipeline::run() {
  ExitCode worst = ExitCode::Done;
  for (const Sizes &sizes : all) {
    c.sizes = sizes;
    c.problems.setSizes(sizes.text);
    ExitCode code = runAtSizes();
    if (!goesOn(code))
      return code;
    worst = std::max(worst, code);
  }
  c.problems.setSizes("");
  if (worst != ExitCode::Done || endsWith(Runs::SizeAndTarget))
    return worst;
  if (ExitCode code = runForTargets(); code != ExitCode::Done || endsWith(Runs::Target))
    return code;
  return runPhases(Runs::Once);
}

ExitCode accc::runPipeline(Compilation &c, StringRef lastPhase, const Progress &progress) {
  if (!c.options.dumpDir.empty())
    if (std::error_code code = llvm::sys::fs::create_directories(c.options.dumpDir)) {
      c.problems.add(
          {.message = c.options.dumpDir + ": " + code.message(), .fault = Fault::Machine});
      return ExitCode::Machine;
    }
  return Pipeline(c, lastPhase, progress).run();
}
