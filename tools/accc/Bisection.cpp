// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Bisection.h"

#include "Command.h"
#include "Comparison.h"
#include "driver/Bisect.h"

#include <algorithm>
#include <cstdio>

using namespace accc;
using namespace accc::tool;
namespace fs = std::filesystem;

/// What a kernel may differ by: it computes in f32 what the interpreter computes in f64.
static constexpr double kKernelTolerance = 1e-4;

static const Tensor *find(const TensorMap &tensors, const std::string &name) {
  auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

/// The model by the interpreter against PyTorch: whether import, loss and derivatives are right.
static bool importIsRight(const Bisection &bisection, const fs::path &folder) {
  fs::path file = folder / "golden64.safetensors";
  if (!fs::exists(file))
    file = folder / "golden.safetensors";
  if (!fs::exists(file))
    return true;
  for (const auto &[name, golden] : load_safetensors(file)) {
    if (name == "losses" || name.starts_with("param."))
      continue;
    Verdict verdict = judge(name, find(bisection.exact, name), golden, nullptr, 1e-5);
    if (verdict.passed())
      continue;
    std::printf("the model as imported and differentiated is wrong: %s %s\n", name.c_str(),
                verdict.how.c_str());
    return false;
  }
  std::printf("the model as imported and differentiated is PyTorch's\n");
  return true;
}

/// Kernels that give something else than the interpreter.
static int countWrongKernels(const Bisection &bisection) {
  int wrong = 0;
  for (const KernelProbe &probe : bisection.kernels) {
    Session session(Model::load(probe.library));
    Result result = session.run("probe", probe.inputs);
    for (const auto &[name, expected] : probe.expected) {
      Verdict verdict = judge(name, result.find(name), expected, nullptr, kKernelTolerance);
      // Sums of many terms: a small error of a whole tensor is rounding.
      if (verdict.passed() || verdict.relative < kKernelTolerance)
        continue;
      std::printf("%s, kernel %s: %s %s differs by %.2e\n", probe.entry.c_str(),
                  probe.label.c_str(), name.c_str(), verdict.shape.c_str(), verdict.worst);
      ++wrong;
    }
  }
  return wrong;
}

int accc::tool::bisectAndPrint(const CompileOptions &options, const TensorMap &inputs,
                               double learningRate, const fs::path &goldens,
                               const fs::path &scratch) {
  Bisection bisection = bisectModel(options, inputs, learningRate, scratch);
  printProblems(bisection.outcome);
  if (bisection.phases.empty())
    return static_cast<int>(bisection.outcome.code);
  if (!importIsRight(bisection, goldens))
    return static_cast<int>(ExitCode::Data);
  for (const PhaseVerdict &phase : bisection.phases) {
    std::printf("%-10s %s", phase.phase.c_str(), phase.broken ? "WRONG" : "keeps every value");
    if (phase.broken)
      std::printf(": %s differs by %.2e", phase.tensor.c_str(), phase.difference);
    std::printf("\n");
    for (const std::string &suspect : phase.suspects)
      std::printf("    suspect: %s\n", suspect.c_str());
    if (!phase.rewrite.empty())
      std::printf("    first wrong rewrite: %s\n", phase.rewrite.c_str());
    if (phase.broken)
      return static_cast<int>(ExitCode::Data);
  }
  if (bisection.outcome.code != ExitCode::Done)
    return static_cast<int>(bisection.outcome.code);
  if (int wrong = countWrongKernels(bisection)) {
    std::printf("%d kernel results are wrong\n", wrong);
    return static_cast<int>(ExitCode::Data);
  }
  std::printf("generate   %zu kernels and library calls give what they should\n",
              bisection.kernels.size());
  std::printf("all parts are right; if the whole is not, the schedule is at fault\n");
  return 0;
}
