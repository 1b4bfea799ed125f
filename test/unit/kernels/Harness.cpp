// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/Harness.h"

#include "fusion/Fuse.h"
#include "fusion/Passes.h"
#include "ir/exec/Exec.h"
#include "ir/interfaces/ReferenceValues.h"
#include "ir/nn/Nn.h"
#include "kernels/Compiled.h"
#include "layout/Passes.h"
#include "reference/interpreter/GradientCheck.h"
#include "reference/interpreter/Interpreter.h"
#include "transforms/Passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <random>

using namespace mlir;

namespace accc::test {
namespace {

std::string compare(const ReferenceArray &got, const ReferenceArray &want, double tolerance) {
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < got.size(); ++i) {
    double a = got.values[i], b = want.values[i];
    if (std::isnan(a) && std::isnan(b))
      continue;
    if (a == b)
      continue;
    difference += (a - b) * (a - b);
    if (!(difference < 1e300))
      return "element " + std::to_string(i) + " is " + std::to_string(a) + ", not " +
             std::to_string(b);
  }
  for (double b : want.values)
    if (std::isfinite(b))
      norm += b * b;
  double relative = std::sqrt(difference) / std::max(std::sqrt(norm), 1e-30);
  if (relative <= tolerance)
    return "";
  std::string text = "relative difference " + std::to_string(relative) + ":";
  for (int64_t i = 0; i < std::min<int64_t>(got.size(), 12); ++i)
    text += " " + std::to_string(got.values[i]) + "|" + std::to_string(want.values[i]);
  return text;
}
} // namespace

namespace {
/// Puts the vector-Jacobian product of the module's function in its place.
LogicalResult replaceByGradient(ModuleOp module) {
  auto function = *module.getOps<func::FuncOp>().begin();
  OwningOpRef<func::FuncOp> vjp = buildVjp(function);
  if (!vjp)
    return failure();
  vjp->setName(function.getName());
  function.erase();
  module.push_back(vjp.release());
  return success();
}

LogicalResult runPasses(ModuleOp module, const std::string &arch) {
  std::string target = createTestTarget(arch)->getName().str();
  PassManager passes(module.getContext());
  passes.addNestedPass<func::FuncOp>(createDecomposePass());
  passes.addNestedPass<func::FuncOp>(createSimplifyPass());
  passes.addNestedPass<func::FuncOp>(createExpandAttentionPass({target, {}}));
  passes.addNestedPass<func::FuncOp>(createViewAttentionOperandsPass({target, {}}));
  passes.addNestedPass<func::FuncOp>(createLayOutContractionsPass());
  passes.addNestedPass<func::FuncOp>(createPackOperandsPass());
  passes.addNestedPass<func::FuncOp>(createIndexRowsPass());
  passes.addNestedPass<func::FuncOp>(createInvertScattersPass({target, {}}));
  passes.addNestedPass<func::FuncOp>(createCompareScattersPass({target, {}}));
  passes.addNestedPass<func::FuncOp>(createSortScattersPass({target, {}}));
  passes.addNestedPass<func::FuncOp>(createSplitSortsPass({target, {}}));
  passes.addNestedPass<func::FuncOp>(createSplitScansPass({target, {}}));
  passes.addNestedPass<func::FuncOp>(createSplitReductionsPass({target, {}}));
  return passes.run(module);
}
} // namespace

KernelOutcome runKernelCase(const KernelCase &test, const std::string &arch, bool interpreted) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect, nn::NnDialect, exec::ExecDialect>();
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) { diagnostics += d.str() + "\n"; });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(test.text, &context);
  if (!module)
    return {"cannot be parsed: " + diagnostics};
  if (test.gradient && failed(replaceByGradient(*module)))
    return {"has no gradient: " + diagnostics};
  auto function = *module->getOps<func::FuncOp>().begin();
  nameValues(function);
  FunctionType type = function.getFunctionType();

  std::mt19937 random(7);
  std::uniform_real_distribution<float> real(-2, 2);
  SmallVector<ReferenceArray> arguments, expected;
  for (Type each : type.getInputs()) {
    Type element = cast<RankedTensorType>(each).getElementType();
    ReferenceArray &array = arguments.emplace_back(cast<RankedTensorType>(each).getShape());
    for (double &value : array.values)
      value = roundToElement(
          element, isa<FloatType>(element)
                       ? static_cast<double>(real(random))
                       : static_cast<double>(random() % static_cast<uint64_t>(test.integerBound)));
  }
  if (interpreted && failed(interpret(function, arguments, expected)))
    return {"cannot be interpreted: " + diagnostics};

  if (test.passes && failed(runPasses(*module, arch)))
    return {"the passes fail: " + diagnostics};
  if (failed(formFusions(*module, *createTestTarget(arch))))
    return {"fusion failed: " + diagnostics};
  Compiled compiled = compileFused(*module, arch);
  if (!compiled.session)
    return {compiled.error};
  KernelOutcome outcome;
  outcome.launches = compiled.session->model().entry("f").num_launches;
  SmallVector<ReferenceArray> results = compiled.run("f", type, arguments);
  outcome.error = compiled.error;
  for (size_t i = 0; i < std::min(results.size(), expected.size()); ++i) {
    std::string wrong = compare(results[i], expected[i], test.tolerance);
    if (!wrong.empty())
      outcome.error += "result " + std::to_string(i) + ": " + wrong + "\n";
  }
  return outcome;
}

} // namespace accc::test
