// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Check.h"

#include "Noise.h"
#include "Trace.h"

#include "codegen/Generate.h"
#include "driver/Pipeline.h"
#include "ir/interfaces/ReferenceValues.h"
#include "ir/nn/Nn.h"
#include "ir/prim/FunctionContract.h"
#include "ir/prim/Prim.h"
#include "layout/Passes.h"
#include "reference/interpreter/Interpreter.h"
#include "support/SizeThreshold.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <cstdlib>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

using accc::test::Trace;
/// 50 roundings of f32, and as many of f64 as the noise has it.
constexpr double kTolerance = 3e-6, kDoubleTolerance = 2e-13, kNoiseFactor = 8, kUnits = 4;
constexpr double kIllConditioned = 0.05;
constexpr int kSteps = 3;

/// ACCC_TEST_TARGET as for createTestTarget (unit/kernels/Compiled.h).
CompileOptions optionsOf(const CaseOptions &options) {
  CompileOptions result;
  if (!options.loss.empty())
    result.losses = {options.loss};
  if (!options.optimizer.empty())
    result.optimizers = {options.optimizer};
  result.lossScale = options.lossScale;
  if (!options.precision.empty())
    result.precision = options.precision;
  result.dataParallel = options.ranks != 0;
  result.accumulateGradients = options.accumulates;
  if (!options.average.empty())
    result.averages = {options.average};
  result.freeze = options.freeze;
  const char *target = std::getenv("ACCC_TEST_TARGET");
  bool cuda = target && StringRef(target) == "cuda";
  result.targets = {cuda ? "cuda" : "cpu"};
  result.archs = {cuda ? "compute_80" : options.arch};
  return result;
}

class Checker {
public:
  Checker(ModuleOp module, const CheckOptions &how)
      : how(how), options(CaseOptions::of(module)), compileOptions(optionsOf(options)),
        c(*module.getContext(), compileOptions) {
    c.module = module.clone();
  }

  Verdict run() {
    setSizeDivisor(options.sizeDivisor);
    if (prepare() && checkGradients() && checkPhases() && compile() && how.library)
      checkLibrary();
    return std::move(outcome);
  }

private:
  bool prepare();
  bool checkGradients();
  std::optional<double> lossAt(double distance);
  bool checkPhases();
  bool takePrimitives();
  bool takeRounded();
  bool checkOrders();
  bool findBudget();
  bool compile();
  void checkLibrary();

  bool fail(const std::string &kind, const std::string &message) {
    outcome.status = Verdict::Status::Failed;
    outcome.kind = kind;
    outcome.message = message;
    return false;
  }
  bool reject(const std::string &kind, const std::string &message) {
    outcome.status = Verdict::Status::Rejected;
    outcome.kind = kind;
    outcome.message = message;
    return false;
  }
  std::string problems() const {
    std::string text;
    for (const Problem &problem : c.problems.get())
      if (problem.severity == Problem::Severity::Error)
        text += describe(problem) + "\n";
    return text;
  }

  FailureOr<Trace> traceAs(bool rounded, ModuleOp module, int steps) const {
    return traceModule(module, start, steps, rounded ? interpretRounded : interpret);
  }
  /// Runs the reference with rounding errors, and remembers how far it came from the reference.
  FailureOr<Trace> traceNoisy(double units);
  bool measureNoise(int runs, double units);
  double toleranceOf(const std::string &key) const {
    auto found = noise.find(key);
    return std::max(least, found == noise.end() ? 0 : kNoiseFactor * found->second);
  }
  /// The first difference from the reference; counts what it compares if asked to.
  std::string difference(const Trace &trace, bool count);
  bool agree(const Trace &trace, const std::string &kind, bool count);

  const CheckOptions &how;
  CaseOptions options;
  CompileOptions compileOptions;
  Compilation c;
  Verdict outcome;
  OwningOpRef<ModuleOp> trainable, primitives;
  Values start;
  Trace reference;
  std::map<std::string, double> noise;
  double least = kTolerance; ///< that is tolerated
  Type factors;              ///< what the reference rounds factors to, if anything
  bool isRounded = false;    ///< whether they are rounded as the precision says
  Random random{1};
  llvm::SmallString<128> library;
};

/// Whether what is trained is f64.
bool hasDoubleLoss(ModuleOp trainable) {
  auto function = trainable.lookupSymbol<func::FuncOp>("grad_step");
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i)
    if (resultRole(function, i) == Role::Loss)
      return getElementTypeOrSelf(function.getResultTypes()[i]).isF64();
  return false;
}

bool Checker::prepare() {
  auto forward = c.module->lookupSymbol<func::FuncOp>("forward");
  if (!forward)
    return reject("no @forward", "");
  Values arguments = argumentValues(forward, options.seed);
  for (unsigned i = 0, e = forward.getNumArguments(); i < e; ++i) {
    auto role = argumentRole(forward, i);
    if (role != Role::Parameter && role != Role::Buffer)
      continue;
    std::string name = forward.getArgAttrOfType<StringAttr>(i, kNameAttr).str();
    auto type = cast<RankedTensorType>(forward.getArgumentTypes()[i]);
    auto bytes = std::make_shared<std::vector<char>>(toBytes(arguments[name], type));
    c.weights[name] = {type, *bytes, bytes};
  }
  if (failed(runPhase(c, "trainable"))) {
    std::string text = problems();
    bool ours = c.problems.gravestFault().value_or(Fault::Bug) == Fault::Bug;
    return ours ? fail("trainable fails", text) : reject("not trainable", text);
  }
  if (failed(verify(*c.module)))
    return fail("trainable makes invalid IR", problems());
  trainable = c.module->clone();
  if (hasDoubleLoss(*trainable))
    least = kDoubleTolerance;
  start = firstValues(*trainable, std::move(arguments), options);
  FailureOr<Trace> trace = traceAs(false, *trainable, kSteps);
  if (failed(trace))
    return reject("not interpreted", problems());
  reference = std::move(*trace);
  return true;
}

/// Whether a derivative is defined otherwise: that of a scatter is that of distinct indices, that
/// of nn.straight_through another value's.
bool hasOwnDerivatives(ModuleOp module) {
  auto result = module.walk([](Operation *op) {
    auto scatter = dyn_cast<prim::ScatterOp>(op);
    bool isOwn =
        isa<nn::StraightThroughOp>(op) || (scatter && scatter.getKind() == prim::ScatterKind::set);
    return isOwn ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// A direction in the space of all parameters, fixed for each.
ReferenceArray direction(StringRef parameter, ArrayRef<int64_t> shape) {
  ReferenceArray array(shape);
  Random random(llvm::xxh3_64bits(parameter));
  for (double &value : array.values)
    value = random.real(-1, 1);
  return array;
}

/// The loss where the parameters that are trained have moved along their directions.
std::optional<double> Checker::lossAt(double distance) {
  auto function = trainable->lookupSymbol<func::FuncOp>("grad_step");
  SmallVector<ReferenceArray> arguments, results;
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
    std::string name = function.getArgAttrOfType<StringAttr>(i, kNameAttr).str();
    ReferenceArray &array = arguments.emplace_back(start[name]);
    if (!reference.count("grad_step grad." + name))
      continue;
    ReferenceArray along = direction(name, array.shape);
    for (auto [x, d] : llvm::zip_equal(array.values, along.values))
      x += distance * d;
  }
  if (failed(interpret(function, arguments, results)))
    return std::nullopt;
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i)
    if (resultRole(function, i) == Role::Loss)
      return results[i].values.front();
  return std::nullopt;
}

/// The derivative of the loss along a direction, from the gradients and from differences.
bool Checker::checkGradients() {
  if (hasOwnDerivatives(*trainable))
    return true;
  double derivative = 0, terms = 0;
  for (const auto &[key, gradient] : reference) {
    StringRef name = key;
    if (!name.consume_front("grad_step grad."))
      continue;
    ReferenceArray along = direction(name, gradient.shape);
    for (auto [g, d] : llvm::zip_equal(gradient.values, along.values)) {
      derivative += g * d;
      terms += std::abs(g * d);
    }
  }
  constexpr double kStep = 1e-5, kRelative = 1e-3;
  std::optional<double> below = lossAt(-kStep), middle = lossAt(0), above = lossAt(kStep);
  if (!below || !middle || !above || !std::isfinite(*below + *middle + *above + derivative))
    return true;
  double left = (*middle - *below) / kStep, right = (*above - *middle) / kStep;
  double scale = terms + std::abs(left) + std::abs(right) + 1e-9 * std::abs(*middle) / kStep;
  double expected = (left + right) / 2;
  if (std::abs(left - right) > kRelative * scale) // a kink
    return true;
  if (std::abs(derivative - expected) <= kRelative * scale)
    return true;
  return fail(
      "gradients differ from differences of the loss",
      llvm::formatv("along one direction {0:e}, differences give {1:e}", derivative, expected));
}

FailureOr<Trace> Checker::traceNoisy(double units) {
  return traceModule(*primitives, start, kSteps,
                     [&](func::FuncOp function, ArrayRef<ReferenceArray> arguments,
                         SmallVectorImpl<ReferenceArray> &results) {
                       NoiseOptions options = {
                           .units = units, .roundsHalf = isRounded, .factors = factors};
                       return interpretWithNoise(function, arguments, results, random, options);
                     });
}

bool Checker::measureNoise(int runs, double units) {
  for (int run = 0; run < runs; ++run) {
    FailureOr<Trace> trace = traceNoisy(units);
    if (failed(trace))
      return false; // an index that rounding decides
    for (const auto &[key, array] : *trace)
      noise[key] = std::max(noise[key], distance(array, reference.at(key)));
  }
  return true;
}

std::string Checker::difference(const Trace &trace, bool count) {
  for (const auto &[key, found] : trace) {
    const ReferenceArray &expected = reference.at(key);
    double tolerance = toleranceOf(key);
    bool finite = isFinite(expected), conditioned = tolerance <= kIllConditioned;
    if (count)
      ++(finite ? conditioned ? outcome.compared : outcome.illConditioned : outcome.notFinite);
    if (!finite || !conditioned)
      continue;
    double far = distance(found, expected);
    if (far <= tolerance)
      continue;
    std::string text =
        llvm::formatv("{0}: relative difference {1:e}, tolerated {2:e}:", key, far, tolerance);
    for (size_t i = 0; i < std::min<size_t>(found.values.size(), 12); ++i)
      text += llvm::formatv(" {0:e3}|{1:e3}", found.values[i], expected.values[i]);
    return text;
  }
  return "";
}

bool Checker::agree(const Trace &trace, const std::string &kind, bool count) {
  std::string text = difference(trace, false);
  if (!text.empty()) {
    // Rare kinks: ask again, with more errors and larger ones.
    if (!measureNoise(40, kUnits) || !measureNoise(20, 4 * kUnits))
      return reject("rounding decides indices", "");
    text = difference(trace, false);
  }
  if (count)
    (void)difference(trace, true);
  return text.empty() || fail(kind, text);
}

/// The budget that the error names where one is too small, so many times.
bool Checker::findBudget() {
  OwningOpRef<ModuleOp> laidOut = c.module->clone();
  compileOptions.memoryBudget = 1;
  if (succeeded(runPhase(c, "fuse")))
    return fail("a byte is memory enough", "");
  if (c.problems.gravestFault() != Fault::Usage)
    return fail("fuse fails for want of memory", problems());
  llvm::Regex least("takes ([0-9.]+) (B|kB|MB) with all");
  for (const Problem &problem : c.problems.take()) {
    if (problem.severity != Problem::Severity::Error)
      continue;
    SmallVector<StringRef> found;
    double number = 0;
    if (!least.match(problem.message, &found) || found[1].getAsDouble(number))
      return fail("fuse fails for want of memory", describe(problem));
    double unit = found[2] == "B" ? 1 : found[2] == "kB" ? 1e3 : 1e6;
    auto bytes = static_cast<int64_t>(std::llround(number * unit));
    compileOptions.memoryBudget = std::max(compileOptions.memoryBudget, bytes);
  }
  compileOptions.memoryBudget =
      std::llround(static_cast<double>(compileOptions.memoryBudget) * options.memory);
  c.problems.forgetFaults();
  c.module = std::move(laidOut);
  return true;
}

/// What noise is measured on from here. Of an attention each product and sum has errors of its own,
/// and what they cancel to.
bool Checker::takePrimitives() {
  const auto &[target, archs] = c.branch->choice;
  primitives = c.module->clone();
  return succeeded(runPass(c, *primitives, createExpandAttentionPass({target, archs}))) ||
         fail("attention is not expanded", problems());
}

/// Mixed precision changes values, once. What it makes of them is as near as rounding allows to a
/// reference that rounds factors and nothing else, and the reference for what follows.
bool Checker::takeRounded() {
  constexpr double kRoundoff = 0x1p-8, kUnits16 = 1 << 16;
  FailureOr<Trace> rounded = traceAs(true, *c.module, kSteps);
  if (failed(rounded))
    return fail("simplify makes IR that cannot be interpreted", problems());
  // Of f16, numbers are lost that are too small for it, or too large.
  if (options.precision == "bf16") {
    factors = BFloat16Type::get(c.module->getContext());
    FailureOr<Trace> reference16 = traceNoisy(0);
    if (failed(reference16))
      return reject("rounding decides indices", "");
    reference = std::move(*reference16);
    if (!measureNoise(10, kUnits16))
      return reject("rounding decides indices", "");
    for (auto &[key, far] : noise) // what is exact in f32, too
      far = std::max(far, kRoundoff / kNoiseFactor);
    if (!agree(*rounded, "rounding changes values", false))
      return false;
    factors = {};
  }
  reference = std::move(*rounded);
  isRounded = true;
  noise.clear();
  return takePrimitives() && (measureNoise(3, kUnits) || reject("rounding decides indices", ""));
}

bool Checker::checkPhases() {
  for (const char *phase : {"decompose", "simplify", "layout", "fuse"}) {
    if (options.memory != 0 && StringRef(phase) == "fuse" && !findBudget())
      return false;
    if (failed(runPhase(c, phase)))
      return fail(std::string(phase) + " fails", problems());
    if (failed(verify(*c.module)))
      return fail(std::string(phase) + " makes invalid IR", problems());
    if (how.afterPhase)
      how.afterPhase(phase, *c.module);
    if (!primitives) {
      if (!takePrimitives())
        return false;
      if (!measureNoise(3, kUnits))
        return reject("rounding decides indices", "");
    }
    if (!options.precision.empty() && StringRef(phase) == "simplify") {
      if (!takeRounded())
        return false;
      continue;
    }
    FailureOr<Trace> trace = traceAs(isRounded, *c.module, /*steps=*/1);
    if (failed(trace))
      return fail(std::string(phase) + " makes IR that cannot be interpreted", problems());
    if (!agree(*trace, std::string(phase) + " changes values", false))
      return false;
  }
  return checkOrders();
}

/// Kernels may add in any order, and what two compute, each in its own, need not be the same bits.
bool Checker::checkOrders() {
  FailureOr<Trace> trace =
      traceModule(*c.module, start, /*steps=*/1,
                  [&](func::FuncOp function, ArrayRef<ReferenceArray> arguments,
                      SmallVectorImpl<ReferenceArray> &results) {
                    NoiseOptions options = {.units = kUnits, .roundsHalf = isRounded};
                    return interpretInOtherOrders(function, arguments, results, random, options);
                  });
  if (failed(trace))
    return reject("rounding decides indices", "");
  return agree(*trace, "the order of sums decides", false);
}

bool Checker::compile() {
  if (failed(runPhase(c, "schedule")))
    return fail("schedule fails", problems());
  if (failed(verify(*c.module)))
    return fail("schedule makes invalid IR", problems());
  if (!how.library)
    return true;
  if (llvm::sys::fs::createTemporaryFile("accc-random", "so", library))
    return fail("machine", "no temporary file");
  GenerateOptions generate;
  generate.modelName = "random";
  if (failed(generateLibrary({{*c.module, &c.target()}}, c.weights, generate, library))) {
    llvm::sys::fs::remove(library);
    return fail("generate fails", problems());
  }
  return true;
}

void Checker::checkLibrary() {
  std::string error;
  // Threads on the stand-in for a GPU's driver, which takes one call at a time, wait for each
  // other.
  bool isAlone = compileOptions.targets.front() == "cuda";
  Trace trace = traceLibrary(library.str().str(), *trainable, start, kSteps, options.threads,
                             isAlone ? 1 : std::max(options.ranks, 1), error);
  llvm::sys::fs::remove(library);
  if (!error.empty()) {
    fail("a run fails", error);
    return;
  }
  if (!agree(trace, "the library computes other values", true))
    return;
  // The halves of a step are the step.
  bool clips = StringRef(options.optimizer).contains("clip_grad_norm");
  for (const auto &[key, whole] : trace) {
    StringRef name = key;
    if (!name.consume_front("train_step 1 new "))
      continue;
    auto half = trace.find(("apply_step new " + name).str());
    if (half == trace.end())
      half = trace.find(("grad_step new " + name).str());
    if (half == trace.end())
      continue;
    double far = distance(half->second, whole), allowed = clips ? least : 0;
    if (options.memory != 0) // a sum that is computed again may have another order
      allowed = toleranceOf(key);
    if (far > allowed) {
      fail("train_step is not grad_step and apply_step",
           llvm::formatv("{0}: relative difference {1:e}", name, far));
      return;
    }
  }
}

} // namespace

Verdict accc::test::checkCase(ModuleOp module, const CheckOptions &options) {
  return Checker(module, options).run();
}
