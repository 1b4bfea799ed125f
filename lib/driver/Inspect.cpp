// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Pipeline.h"
#include "ir/prim/Cost.h"
#include "ir/prim/FunctionContract.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace mlir;
using namespace accc;

static std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto tensor = cast<RankedTensorType>(type);
  stream << tensor.getElementType() << "[";
  llvm::interleaveComma(tensor.getShape(), stream);
  stream << "]";
  return text;
}

static llvm::json::Object describeValue(StringRef name, Role role, Type type) {
  return llvm::json::Object{
      {"name", name}, {"type", typeText(type)}, {"role", stringifyRole(role)}};
}

static llvm::json::Object describeForward(func::FuncOp forward) {
  llvm::json::Array inputs, outputs, variables;
  int64_t parameters = 0;
  double parameterBytes = 0;
  for (unsigned i = 0, e = forward.getNumArguments(); i < e; ++i) {
    Type type = forward.getArgumentTypes()[i];
    Role role = *argumentRole(forward, i);
    if (role == Role::Parameter) {
      parameters += cast<RankedTensorType>(type).getNumElements();
      parameterBytes += bytesOf(type);
    }
    (isVariable(role) ? variables : inputs)
        .push_back(describeValue(argumentText(forward, i, kNameAttr), role, type));
  }
  for (unsigned i = 0, e = forward.getNumResults(); i < e; ++i)
    if (Role role = *resultRole(forward, i); role == Role::Output)
      outputs.push_back(
          describeValue(resultText(forward, i, kNameAttr), role, forward.getResultTypes()[i]));
  return llvm::json::Object{{"inputs", std::move(inputs)},
                            {"outputs", std::move(outputs)},
                            {"variables", std::move(variables)},
                            {"parameters", parameters},
                            {"parameter_bytes", parameterBytes}};
}

/// The model at given sizes, in words that live as long as the context; adds to the outcome's
/// problems.
static llvm::json::Object describeModel(MLIRContext &context, const CompileOptions &options,
                                        Outcome &outcome) {
  Compilation compilation(context, options);
  compilation.onlyInspected = true;
  llvm::json::Object json;
  outcome.code = runPipeline(compilation, "trainable", {});
  if (outcome.code == ExitCode::Done) {
    auto forward = *compilation.module->getOps<func::FuncOp>().begin();
    json = describeForward(forward);

    std::map<std::string, int64_t> counts;
    for (Operation &op : forward.front().without_terminator())
      ++counts[op.getName().getStringRef().str()];
    llvm::json::Object ops;
    for (const auto &[name, count] : counts)
      ops[name] = count;
    json["ops"] = std::move(ops);

    const ExportNotes &notes = compilation.exported;
    json["recovered"] = llvm::json::Array(notes.recovered);
    if (!notes.damage.empty())
      json["damage"] = notes.damage;

    double flops = 0, bytes = 0;
    if (succeeded(decomposeModel(compilation)))
      for (Operation &op : forward.front().without_terminator()) {
        flops += flopsOf(&op);
        for (Type type : op.getResultTypes())
          bytes += bytesOf(type);
      }
    json["flops"] = flops;
    json["activation_bytes"] = bytes;
  }
  for (Problem &problem : compilation.problems.take())
    if (!llvm::is_contained(outcome.problems, problem))
      outcome.problems.push_back(std::move(problem));
  return json;
}

Outcome accc::inspectModel(const CompileOptions &options) {
  // What a model is does not depend on how it is trained.
  CompileOptions forwardOnly;
  forwardOnly.model = options.model;
  forwardOnly.customOps = options.customOps;
  forwardOnly.dimensions = options.dimensions;
  forwardOnly.inputs = options.inputs;
  forwardOnly.targets = options.targets;
  forwardOnly.archs = options.archs;
  forwardOnly.precision = options.precision;
  forwardOnly.libraryAttention = options.libraryAttention;
  forwardOnly.stopAfter = "trainable";
  forwardOnly.openDimension = 1; // to look at a model, nobody should have to know its dimensions
  Outcome outcome;
  outcome.problems = checkOptions(forwardOnly);
  if (!outcome.problems.empty()) {
    outcome.code = ExitCode::Usage;
    return outcome;
  }
  MLIRContext context;
  registerDialects(context);
  llvm::json::Array models;
  for (const Sizes &sizes : allSizes(options)) {
    for (const auto &[name, size] : sizes.dimensions)
      forwardOnly.dimensions[name] = {size};
    llvm::json::Object json = describeModel(context, forwardOnly, outcome);
    if (outcome.code != ExitCode::Done)
      return outcome;
    json["model"] = llvm::sys::path::filename(options.model);
    json["sizes"] = sizes.text;
    models.push_back(std::move(json));
  }
  outcome.text = llvm::formatv("{0:2}", models.size() == 1 ? std::move(models.front())
                                                           : llvm::json::Value(std::move(models)));
  return outcome;
}
