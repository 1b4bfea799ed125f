// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Bisect.h"

#include "driver/Evaluation.h"
#include "driver/Pipeline.h"
#include "driver/Probes.h"
#include "reference/bisect/WrongRewrite.h"
#include "support/Attributes.h"

#include <cmath>

using namespace mlir;
using namespace accc;

namespace {
/// Phases keep values up to rounding of constants; more than this is no rounding.
constexpr double kTolerance = 1e-5;

constexpr const char *kEntries[] = {"train_step", "grad_step", "eval_step"};

/// What makes two arrays equal up to a change of shape or order: count, sum and sum of squares.
struct Signature {
  int64_t count;
  double sum = 0, squares = 0, magnitude = 0;
  explicit Signature(const ReferenceArray &array) : count(array.size()) {
    for (double value : array.values) {
      if (!std::isfinite(value))
        continue;
      sum += value;
      squares += value * value;
      magnitude += std::abs(value);
    }
  }
  bool matches(const Signature &other) const {
    return count == other.count &&
           std::abs(sum - other.sum) <= kTolerance * std::max(magnitude, 1e-6) &&
           std::abs(squares - other.squares) <= kTolerance * std::max(squares, 1e-12);
  }
};

class Bisector {
public:
  Bisector(const TensorMap &inputs, double learningRate)
      : inputs(inputs), learningRate(learningRate) {}

  /// Judges the module after a phase, and remembers it for the next.
  LogicalResult judge(const std::string &phase, Compilation &c);

  const NamedArrays &values() const { return start; }
  std::vector<PhaseVerdict> verdicts;
  NamedArrays exact;

private:
  std::vector<std::string> findSuspects(StringRef entry, ModuleOp now);
  std::string findRewrite(const std::string &phase, Compilation &c, StringRef entry,
                          const NamedArrays &expected);

  const TensorMap &inputs;
  double learningRate;
  NamedArrays start;
  llvm::StringMap<NamedArrays> known;
  OwningOpRef<ModuleOp> previous;
};
} // namespace

std::vector<std::string> Bisector::findSuspects(StringRef entry, ModuleOp now) {
  auto before = previous->lookupSymbol<func::FuncOp>(entry);
  auto after = now.lookupSymbol<func::FuncOp>(entry);
  auto oldValues = evaluateAll(before, start), newValues = evaluateAll(after, start);
  if (failed(oldValues) || failed(newValues))
    return {};
  std::vector<Signature> signatures;
  for (auto &[value, array] : *oldValues)
    signatures.emplace_back(array);
  for (ReferenceArray &argument : argumentsOf(before, start))
    signatures.emplace_back(argument);
  std::vector<std::string> suspects;
  for (Operation &op : after.front().without_terminator()) {
    if (op.getNumOperands() == 0)
      continue; // a new constant says nothing before it is used
    for (Value result : op.getResults()) {
      Signature signature((*newValues)[result]);
      if (suspects.size() < 3 &&
          llvm::none_of(signatures, [&](const Signature &old) { return signature.matches(old); }))
        suspects.push_back(op.getName().getStringRef().str() + " at '" + nodeName(op.getLoc()) +
                           "'");
    }
  }
  return suspects;
}

/// The rewrite of a phase after which an entry no longer computes `expected`.
std::string Bisector::findRewrite(const std::string &phase, Compilation &c, StringRef entry,
                                  const NamedArrays &expected) {
  auto transform = [&](ModuleOp module) {
    // A phase runs on the compilation's module.
    OwningOpRef<ModuleOp> kept = std::exchange(c.module, OwningOpRef<ModuleOp>(module));
    LogicalResult status = runPhase(c, phase);
    c.module.release();
    c.module = std::move(kept);
    return status;
  };
  auto isWrong = [&](ModuleOp module) {
    auto results = evaluate(module.lookupSymbol<func::FuncOp>(entry), start);
    return failed(results) || llvm::any_of(*results, [&](const auto &result) {
             return relativeDifference(result.second, expected.lookup(result.first())) > kTolerance;
           });
  };
  return findWrongRewrite(*previous, transform, isWrong);
}

LogicalResult Bisector::judge(const std::string &phase, Compilation &c) {
  if (phase == "import" || phase == "schedule" || phase == "generate")
    return success();
  if (start.empty())
    start = startingValues(inputs, c.weights, learningRate);
  PhaseVerdict verdict{.phase = phase};
  std::string worstEntry;
  NamedArrays expected;
  for (const char *entry : kEntries) {
    auto function = c.module->lookupSymbol<func::FuncOp>(entry);
    if (!function)
      continue;
    FailureOr<NamedArrays> results = evaluate(function, start);
    if (failed(results))
      return failure();
    if (auto old = known.find(entry); old != known.end())
      for (auto &[name, array] : *results) {
        double difference = relativeDifference(array, old->second.lookup(name));
        if (difference < verdict.difference || (difference == 0 && !verdict.tensor.empty()))
          continue;
        verdict.tensor = entry + (" " + name.str());
        verdict.difference = difference;
        worstEntry = entry;
        expected = old->second;
      }
    if (StringRef(entry) != "train_step" && exact.empty())
      exact = *results;
    known[entry] = std::move(*results);
  }
  verdict.broken = verdict.difference > kTolerance;
  if (verdict.broken) {
    verdict.suspects = findSuspects(worstEntry, *c.module);
    verdict.rewrite = findRewrite(phase, c, worstEntry, expected);
  }
  previous = c.module->clone();
  verdicts.push_back(std::move(verdict));
  return success();
}

Bisection accc::bisectModel(const CompileOptions &options, const TensorMap &inputs,
                            double learningRate, const std::string &folder) {
  Bisection result;
  // One thread, so that a phase does its rewrites in the same order each time.
  MLIRContext context(MLIRContext::Threading::DISABLED);
  registerDialects(context);
  CompileOptions fused = options;
  fused.output = folder + "/model.so"; // names the reproducer
  std::vector<Problem> problems = checkOptions(fused);
  if (options.targets.size() > 1)
    problems.push_back({.message = "a bisection follows one --target at a time"});
  if (!problems.empty()) {
    result.outcome = {.code = ExitCode::Usage, .problems = std::move(problems)};
    return result;
  }
  Compilation c(context, fused);
  Bisector bisector(inputs, learningRate);
  c.afterPhase = [&](StringRef phase) { return bisector.judge(phase.str(), c); };
  result.outcome.code = runPipeline(c, "fuse", {});
  result.phases = std::move(bisector.verdicts);

  bool broken = llvm::any_of(result.phases, [](const PhaseVerdict &v) { return v.broken; });
  if (result.outcome.code == ExitCode::Done && !broken)
    for (const char *entry : {"grad_step", "apply_step", "eval_step"})
      if (auto function = c.module->lookupSymbol<func::FuncOp>(entry)) {
        // Names of inputs and of results are apart: only apply_step takes the gradients.
        NamedArrays values = bisector.values();
        for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
          if (function.getArgAttrOfType<StringAttr>(i, kRoleAttr) == role::kGradient) {
            auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr);
            values[name] = bisector.exact.lookup(name);
          }
        if (failed(makeProbes(function, values, c.target(), folder, result.kernels)))
          result.outcome.code = ExitCode::Bug;
      }
  for (auto &[name, array] : bisector.exact) {
    auto type = RankedTensorType::get(array.shape, FloatType::getF64(&context));
    result.exact.emplace(name.str(), toTensor(array, type));
  }
  result.outcome.problems = c.problems.take();
  result.outcome.reproducer = c.reproducer;
  return result;
}
