// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/StepRunner.h"

#include "ir/nn/Nn.h"
#include "reference/interpreter/Interpreter.h"
#include "support/ProblemCollector.h"
#include "training/StepFunction.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using namespace accc::test;

MLIRContext &accc::test::context() {
  static MLIRContext *context = [] {
    auto *made = new MLIRContext(MLIRContext::Threading::DISABLED);
    made->loadDialect<func::FuncDialect, prim::PrimDialect, nn::NnDialect>();
    return made;
  }();
  return *context;
}

ReferenceArray accc::test::array(ArrayRef<int64_t> shape, std::vector<double> values) {
  ReferenceArray result(shape);
  REQUIRE(result.size() == static_cast<int64_t>(values.size()));
  result.values = std::move(values);
  return result;
}

Trainable::Trainable(const std::string &text) {
  module = parseSourceString<ModuleOp>(text, ParserConfig(&context()));
  REQUIRE(module);
}

std::string Trainable::make(const TrainingOptions &options) {
  ProblemCollector problems(&context());
  LogicalResult made = makeTrainable(*module, options);
  std::string text;
  bool anyError = false;
  for (const Problem &problem : problems.get()) {
    bool isError = problem.severity == Problem::Severity::Error;
    anyError |= isError;
    text += (isError ? "error: " : "warning: ") + describe(problem) + "\n";
  }
  CHECK(failed(made) == anyError);
  if (succeeded(made))
    CHECK(succeeded(verify(*module)));
  return text;
}

void Trainable::mustMake(const TrainingOptions &options) { REQUIRE(make(options) == ""); }

bool Trainable::has(const std::string &entry) {
  return module->lookupSymbol<func::FuncOp>(entry) != nullptr;
}

Values Trainable::run(const std::string &entry, Values &values) {
  auto function = module->lookupSymbol<func::FuncOp>(entry);
  REQUIRE(function);
  StepFunction step(function);
  SmallVector<ReferenceArray> arguments, results;
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
    std::string name = step.argumentName(i).str();
    if (step.argumentRole(i) == Role::OptimizerState && !values.count(name)) {
      auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
      values[name] = ReferenceArray(type.getShape());
    }
    INFO("argument " << name);
    REQUIRE(values.count(name));
    arguments.push_back(values[name]);
  }
  REQUIRE(succeeded(interpret(function, arguments, results)));
  Values named;
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i) {
    named[step.resultName(i).str()] = results[i];
    if (auto variable = function.getResultAttrOfType<StringAttr>(i, kUpdatesAttr))
      values[variable.str()] = results[i];
  }
  return named;
}
