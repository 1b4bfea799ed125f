// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "debug/Bisector.h"

#include "debug/Probes.h"
#include "debug/WrongRewrite.h"
#include "ir/prim/FunctionContract.h"
#include "support/ProblemCollector.h"

#include <cmath>

using namespace mlir;
using namespace accc;

namespace {
/// Phases keep values up to rounding of constants; more than this is no rounding.
constexpr double kTolerance = 1e-5;

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
} // namespace

/// What stands before the names of an entry's results, as in goldens: "grad_step.d ", and nothing
/// where its training step has no name.
static std::string prefixOf(StringRef entry) {
  return stepName(entry).empty() ? "" : (entry + " ").str();
}

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
std::string Bisector::findRewrite(Transform phase, StringRef entry, const NamedArrays &expected) {
  auto isWrong = [&](ModuleOp module) {
    auto results = evaluate(module.lookupSymbol<func::FuncOp>(entry), start);
    return failed(results) || llvm::any_of(*results, [&](const auto &result) {
             return relativeDifference(result.second, expected.lookup(result.first())) > kTolerance;
           });
  };
  return findWrongRewrite(*previous, phase, isWrong);
}

/// Keeps what the first phase gives for each training step, in its first entry without an update.
void Bisector::addExact(StringRef entry, const NamedArrays &results) {
  if (entryKind(entry) == kTrainStep || !judgedSteps.insert(stepName(entry).str()).second)
    return;
  for (auto &[name, array] : results)
    exact[prefixOf(entry) + name.str()] = array;
}

LogicalResult Bisector::judge(StringRef name, ModuleOp module, Transform phase) {
  if (start.empty())
    start = startingValues(inputs, weights, learningRate);
  PhaseVerdict verdict{.phase = name.str()};
  std::string worstEntry;
  NamedArrays expected;
  for (auto function : module.getOps<func::FuncOp>()) {
    StringRef entry = function.getSymName();
    if (!isEntryName(entry) || updatesAlone(entry))
      continue;
    FailureOr<NamedArrays> results = evaluate(function, start);
    if (failed(results))
      return failure();
    if (auto old = known.find(entry); old != known.end())
      for (auto &[name, array] : *results) {
        double difference = relativeDifference(array, old->second.lookup(name));
        if (difference < verdict.difference || (difference == 0 && !verdict.tensor.empty()))
          continue;
        verdict.tensor = (entry + " " + name).str();
        verdict.difference = difference;
        worstEntry = entry;
        expected = old->second;
      }
    addExact(entry, *results);
    known[entry] = std::move(*results);
  }
  verdict.broken = verdict.difference > kTolerance;
  if (verdict.broken) {
    verdict.suspects = findSuspects(worstEntry, module);
    verdict.rewrite = findRewrite(phase, worstEntry, expected);
  }
  previous = module.clone();
  verdicts.push_back(std::move(verdict));
  return success();
}

FailureOr<std::vector<KernelProbe>> Bisector::probeKernels(ModuleOp module, const Target &target,
                                                           const std::string &folder) {
  std::vector<KernelProbe> kernels;
  for (auto function : module.getOps<func::FuncOp>()) {
    StringRef entry = function.getSymName();
    if (entryKind(entry) == kTrainStep)
      continue;
    // Names of inputs and of results are apart: only apply_step takes the gradients.
    NamedArrays values = start;
    for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
      if (argumentRole(function, i) == Role::Gradient) {
        StringRef name = argumentText(function, i, kNameAttr);
        values[name] = exact.lookup(prefixOf(entryName(kGradStep, stepName(entry))) + name.str());
      }
    if (failed(makeProbes(function, values, target, folder, kernels)))
      return failure();
  }
  return kernels;
}
