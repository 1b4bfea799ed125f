// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Bisect.h"

#include "debug/Bisector.h"
#include "driver/Pipeline.h"

using namespace mlir;
using namespace accc;

static LogicalResult judgePhase(Bisector &bisector, Compilation &c, StringRef phase) {
  return bisector.judge(phase, *c.module, [&](ModuleOp module) {
    // A phase runs on the compilation's module.
    OwningOpRef<ModuleOp> kept = std::exchange(c.module, OwningOpRef<ModuleOp>(module));
    LogicalResult status = runPhase(c, phase);
    c.module.release();
    c.module = std::move(kept);
    return status;
  });
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
    problems.push_back(
        {.message = "a bisection follows one --target at a time", .fault = Fault::Usage});
  if (!problems.empty()) {
    result.outcome = {.code = ExitCode::Usage, .problems = std::move(problems)};
    return result;
  }
  Compilation c(context, fused);
  Bisector bisector(inputs, c.weights, learningRate);
  c.afterPhase = [&](StringRef phase) {
    return phase == "import" ? success() : judgePhase(bisector, c, phase);
  };
  result.outcome.code = runPipeline(c, "fuse", {});
  result.phases = std::move(bisector.verdicts);

  bool broken = llvm::any_of(result.phases, [](const PhaseVerdict &v) { return v.broken; });
  if (result.outcome.code == ExitCode::Done && !broken) {
    FailureOr<std::vector<KernelProbe>> kernels =
        bisector.probeKernels(*c.module, c.target(), folder);
    if (succeeded(kernels))
      result.kernels = std::move(*kernels);
    else
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
