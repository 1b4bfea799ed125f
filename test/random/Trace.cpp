// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Trace.h"

#include "accc/accc.h"
#include "debug/Evaluation.h"
#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/FunctionContract.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <thread>

using namespace mlir;
using namespace accc;
using namespace accc::test;

/// The key of a result in the trace, after the call.
static std::string keyOf(func::FuncOp function, unsigned result) {
  if (auto variable = function.getResultAttrOfType<StringAttr>(result, kUpdatesAttr))
    return "new " + variable.str();
  return function.getResultAttrOfType<StringAttr>(result, kNameAttr).str();
}

Values accc::test::firstValues(ModuleOp trainable, Values values, const CaseOptions &options) {
  for (auto function : trainable.getOps<func::FuncOp>())
    for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
      auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
      std::optional<Role> role = argumentRole(function, i);
      std::string name = argumentText(function, i, kNameAttr).str();
      if (role == Role::OptimizerState)
        values[name] = ReferenceArray(type.getShape());
      else if (role == Role::Target)
        values[name] =
            sampleValues(type, {options.targetLow, options.targetHigh}, name, options.seed);
    }
  double rate = static_cast<double>(static_cast<float>(options.learningRate));
  values["learning_rate"] = ReferenceArray({}, rate);
  values["seed"] = ReferenceArray({}, static_cast<double>(options.seed & 0xffff));
  values["step"] = ReferenceArray(ArrayRef<int64_t>());
  return values;
}

namespace {
/// Calls entry points on variables that they change.
class Caller {
public:
  Caller(ModuleOp module, const Interpreter &interpreter, Values values)
      : module(module), interpreter(interpreter), values(std::move(values)) {}

  /// Gradients stay as values, so that apply_step finds them.
  LogicalResult call(StringRef entry, const std::string &prefix, Trace &trace) {
    auto function = module.lookupSymbol<func::FuncOp>(entry);
    if (!function)
      return success();
    SmallVector<ReferenceArray> arguments, results;
    for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
      arguments.push_back(
          toMemory(values[argumentText(function, i, kNameAttr).str()], argumentOrder(function, i)));
    if (failed(interpreter(function, arguments, results)))
      return failure();
    for (unsigned i = 0, e = function.getNumResults(); i < e; ++i) {
      std::string key = keyOf(function, i);
      if (auto variable = function.getResultAttrOfType<StringAttr>(i, kUpdatesAttr)) {
        results[i] = fromMemory(results[i], variableOrder(function, variable));
        values[variable.str()] = results[i];
      } else if (StringRef(key).starts_with("grad."))
        values[key] = results[i];
      trace[prefix + " " + key] = std::move(results[i]);
    }
    return success();
  }
  void setStep(int64_t step) { values["step"].values = {static_cast<double>(step)}; }

private:
  ModuleOp module;
  const Interpreter &interpreter;
  Values values;
};

std::string trainStepName(int64_t step) { return "train_step " + std::to_string(step + 1); }
std::string averageName(int64_t step) { return "average_eval_step " + std::to_string(step + 1); }
std::string batchName(int64_t batch) { return "accumulate_step " + std::to_string(batch + 1); }
constexpr int64_t kBatches = 2; // of an update_step
} // namespace

FailureOr<Trace> accc::test::traceModule(ModuleOp module, const Values &start, int steps,
                                         const Interpreter &interpreter) {
  Trace trace;
  Caller apart(module, interpreter, start);
  if (failed(apart.call("grad_step", "grad_step", trace)))
    return failure();
  // apply_step alone changes parameters, grad_step alone buffers.
  if (failed(apart.call("apply_step", "apply_step", trace)))
    return failure();
  if (failed(Caller(module, interpreter, start).call("eval_step", "eval_step", trace)))
    return failure();
  Caller added(module, interpreter, start);
  for (int64_t batch = 0; batch < kBatches; ++batch) {
    added.setStep(batch);
    if (failed(added.call("accumulate_step", batchName(batch), trace)))
      return failure();
  }
  if (failed(added.call("update_step", "update_step", trace)))
    return failure();
  Caller together(module, interpreter, start);
  for (int64_t step = 0; step < steps; ++step) {
    together.setStep(step);
    if (failed(together.call("train_step", trainStepName(step), trace)) ||
        failed(together.call("average_eval_step", averageName(step), trace)))
      return failure();
  }
  return trace;
}

namespace {
/// The entry points of a library, as numbers of the reference.
class LibraryCaller {
public:
  LibraryCaller(const Model &model, const SessionOptions &options, const TensorMap &inputs)
      : session(model, options), inputs(inputs) {}

  Result call(func::FuncOp function, const std::string &prefix, Trace &trace,
              const Result *more = nullptr) {
    std::string entry = function.getName().str();
    Result result = more ? session.run(entry, inputs, *more) : session.run(entry, inputs);
    for (unsigned i = 0, e = function.getNumResults(); i < e; ++i) {
      auto type = cast<RankedTensorType>(function.getResultTypes()[i]);
      auto variable = function.getResultAttrOfType<StringAttr>(i, kUpdatesAttr);
      std::string key = keyOf(function, i);
      trace[prefix + " " + key] =
          toArray(variable ? session.variable(variable.str()) : result[key], type);
    }
    return result;
  }
  /// Where something is random.
  void setStep(int64_t step) {
    if (auto input = inputs.find("step"); input != inputs.end())
      input->second = Tensor::scalar<int64_t>(step);
  }

private:
  static ReferenceArray toArray(const Tensor &tensor, RankedTensorType type) {
    return fromBytes(type, {static_cast<const char *>(tensor.raw()), tensor.size_bytes()});
  }
  Session session;
  TensorMap inputs;
};
} // namespace

/// What one of a group computes, or alone.
static Trace traceOne(const Model &model, ModuleOp trainable, const TensorMap &inputs, int steps,
                      const SessionOptions &options, std::string &error) {
  Trace trace;
  auto entry = [&](StringRef name) { return trainable.lookupSymbol<func::FuncOp>(name); };
  try {
    LibraryCaller apart(model, options, inputs);
    Result gradients = apart.call(entry("grad_step"), "grad_step", trace);
    if (func::FuncOp apply = entry("apply_step"))
      apart.call(apply, "apply_step", trace, &gradients);
    LibraryCaller(model, options, inputs).call(entry("eval_step"), "eval_step", trace);
    if (func::FuncOp accumulate = entry("accumulate_step")) {
      LibraryCaller added(model, options, inputs);
      for (int64_t batch = 0; batch < kBatches; ++batch) {
        added.setStep(batch);
        added.call(accumulate, batchName(batch), trace);
      }
      added.call(entry("update_step"), "update_step", trace);
    }
    LibraryCaller together(model, options, inputs);
    if (func::FuncOp train = entry("train_step"))
      for (int64_t step = 0; step < steps; ++step) {
        together.setStep(step);
        together.call(train, trainStepName(step), trace);
        if (func::FuncOp average = entry("average_eval_step"))
          together.call(average, averageName(step), trace);
      }
  } catch (const std::exception &caught) { // as code without RTTI must
    error = caught.what();
  }
  return trace;
}

Trace accc::test::traceLibrary(const std::string &path, ModuleOp trainable, const Values &start,
                               int steps, int threads, int ranks, std::string &error) {
  TensorMap inputs;
  for (auto function : trainable.getOps<func::FuncOp>())
    for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
      std::optional<Role> role = argumentRole(function, i);
      std::string name = argumentText(function, i, kNameAttr).str();
      if (role == Role::Input || role == Role::Target || role == Role::LearningRate ||
          role == Role::Seed || role == Role::Step)
        inputs.insert_or_assign(
            name, toTensor(start.at(name), cast<RankedTensorType>(function.getArgumentTypes()[i])));
    }
  std::optional<Model> model;
  try {
    model = Model::load(path);
  } catch (const std::exception &caught) {
    error = caught.what();
    return {};
  }
  if (ranks == 1)
    return traceOne(*model, trainable, inputs, steps, {.threads = threads}, error);
  std::vector<Trace> traces(static_cast<size_t>(ranks));
  std::vector<std::string> errors(traces.size());
  std::vector<std::thread> running;
  for (std::shared_ptr<Group> &group : thread_groups(ranks))
    running.emplace_back([&, group = std::move(group)]() mutable {
      auto rank = static_cast<size_t>(group->rank());
      SessionOptions options{.threads = threads, .group = std::move(group)};
      traces[rank] = traceOne(*model, trainable, inputs, steps, options, errors[rank]);
    });
  for (std::thread &thread : running)
    thread.join();
  for (size_t rank = 0; rank < traces.size() && error.empty(); ++rank) {
    error = errors[rank];
    for (const auto &[key, array] : traces[rank])
      if (error.empty() && distance(array, traces.front()[key]) != 0)
        error = "rank " + std::to_string(rank) + " has another " + key;
  }
  return std::move(traces.front());
}

double accc::test::distance(const ReferenceArray &a, const ReferenceArray &b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (a.shape != b.shape)
    return infinity;
  double difference = 0, norm = 0;
  for (auto [x, y] : llvm::zip_equal(a.values, b.values)) {
    if (std::isfinite(y))
      norm += y * y;
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    if (!std::isfinite(x) || !std::isfinite(y))
      return infinity;
    difference += (x - y) * (x - y);
  }
  // What is zero but for underflow must not divide.
  double least = 1e-12 * std::sqrt(static_cast<double>(std::max<int64_t>(1, b.size())));
  return std::sqrt(difference) / std::max(std::sqrt(norm), least);
}

bool accc::test::isFinite(const ReferenceArray &array) {
  return llvm::all_of(array.values, [](double x) { return std::isfinite(x); });
}
