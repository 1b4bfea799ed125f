// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/Batch.h"

#include "fusion/Fuse.h"
#include "reference/interpreter/Interpreter.h"

#include <catch2/catch.hpp>

#include <utility>

using namespace mlir;

namespace accc::test {
namespace {
constexpr size_t kPerLibrary = 64;

func::FuncOp functionOf(ModuleOp module) { return *module.getOps<func::FuncOp>().begin(); }

const bool testsHaveNames = [] {
  nameOfTest = [] { return Catch::getResultCapture().getCurrentTestName(); };
  return true;
}();

std::string entryName(size_t i) { return "f" + std::to_string(i); }
} // namespace

void Batch::add(OwningOpRef<ModuleOp> module, std::vector<ReferenceArray> arguments,
                std::string label, double tolerance) {
  nameValues(functionOf(*module));
  functions.push_back({std::move(module), std::move(arguments), std::move(label), tolerance});
}

std::vector<std::string> Batch::run() {
  std::vector<std::string> failures;
  for (ArrayRef<Function> rest = functions; !rest.empty();) {
    ArrayRef<Function> some = rest.take_front(kPerLibrary);
    runSome(some, failures);
    rest = rest.drop_front(some.size());
  }
  functions.clear();
  return failures;
}

Compiled Batch::compile(ArrayRef<Function> some) {
  OwningOpRef<ModuleOp> all = ModuleOp::create(UnknownLoc::get(&context));
  for (auto [i, function] : llvm::enumerate(some)) {
    auto copy = functionOf(ModuleOp(*function.module)).clone();
    copy.setName(entryName(i));
    all->push_back(copy);
  }
  if (failed(formFusions(*all, *createTestTarget(arch))))
    return {nullptr, "fusion failed"};
  return compileFused(*all, arch);
}

void Batch::runSome(ArrayRef<Function> some, std::vector<std::string> &failures) {
  Compiled compiled = compile(some);
  if (!compiled.session && some.size() == 1) {
    failures.push_back(some.front().label + ": " + compiled.error);
    return;
  }
  if (!compiled.session) { // to see which of them it is
    for (size_t i = 0; i < some.size(); ++i)
      runSome(some.slice(i, 1), failures);
    return;
  }
  for (auto [i, function] : llvm::enumerate(some))
    if (std::string wrong = runOne(compiled, entryName(i), function); !wrong.empty())
      failures.push_back(function.label + ":\n" + wrong);
}

std::string Batch::runOne(Compiled &compiled, const std::string &entry, const Function &function) {
  func::FuncOp f = functionOf(ModuleOp(*function.module));
  SmallVector<ReferenceArray> expected;
  bool isDataError = failed(interpret(f, function.arguments, expected));
  SmallVector<ReferenceArray> found = compiled.run(entry, f.getFunctionType(), function.arguments);
  if (std::string error = std::exchange(compiled.error, ""); isDataError || !error.empty()) {
    // Where nothing is computed, no index is read that could be wrong.
    bool isNothing =
        llvm::all_of(found, [](const ReferenceArray &result) { return result.values.empty(); });
    return !isDataError                  ? error
           : error.empty() && !isNothing ? "runs where the interpreter says why it cannot"
                                         : "";
  }
  std::string text;
  for (auto [i, type] : llvm::enumerate(f.getResultTypes())) {
    Type element = cast<RankedTensorType>(type).getElementType();
    double tolerance = function.tolerance > 0 ? function.tolerance : toleranceOf(element);
    std::string wrong = difference(found[i], expected[i], element, tolerance);
    if (!wrong.empty())
      text += "result " + std::to_string(i) + ": " + wrong;
  }
  return text;
}

} // namespace accc::test
