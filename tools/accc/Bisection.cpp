// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Bisection.h"

#include "Goldens.h"
#include "driver/Bisect.h"

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

static std::string scientific(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", number);
  return text;
}

static void addFinding(Section &section, const std::string &where, const std::string &what) {
  section.changes.push_back({where, "", what, /*fails=*/true});
}

/// The model by the interpreter against the goldens: whether import, loss and derivatives are
/// right. Goldens in float32 are only so exact.
static bool importIsRight(const Bisection &bisection, const fs::path &folder, double tolerance,
                          Section &section) {
  fs::path file = folder / kGolden64File;
  Measured measured;
  if (fs::exists(file)) {
    tolerance = 1e-5;
    measured.noise = 0; // two runs in float64
  } else {
    file = folder / kGoldenFile;
  }
  if (!fs::exists(file))
    return true;
  for (const auto &[name, golden] : load_safetensors(file)) {
    if (isLossesName(name) || name.starts_with("param.") || name.starts_with("state.") ||
        name.starts_with("eval_step") || isAveragedName(name))
      continue;
    auto rule = isGradientName(name) ? judgeGradient : judge;
    Verdict verdict = rule(name, find(bisection.exact, name), golden, measured, tolerance);
    if (verdict.passed())
      continue;
    addFinding(section, "the model as imported and differentiated is wrong",
               name + " " + verdict.how);
    return false;
  }
  section.notes.push_back("the model as imported and differentiated is that of the goldens");
  return true;
}

static void addPhase(const PhaseVerdict &phase, Section &section) {
  char name[32];
  std::snprintf(name, sizeof name, "%-10s", phase.phase.c_str());
  if (!phase.broken)
    section.notes.push_back(std::string(name) + " keeps every value");
  else
    addFinding(section, phase.phase,
               "WRONG: " + phase.tensor + " differs by " + scientific(phase.difference));
  for (const std::string &suspect : phase.suspects)
    addFinding(section, "suspect", suspect);
  if (!phase.rewrite.empty())
    addFinding(section, "first wrong rewrite", phase.rewrite);
}

/// Adds the kernels that give something else than the interpreter.
static void judgeKernels(const Bisection &bisection, Section &section) {
  for (const KernelProbe &probe : bisection.kernels) {
    Session session(Model::load(probe.library));
    Result result = session.run("probe", probe.inputs);
    for (const auto &[name, expected] : probe.expected) {
      Verdict verdict = judge(name, result.find(name), expected, {}, kKernelTolerance);
      // Sums of many terms: a small error of a whole tensor is rounding.
      if (verdict.passed() || verdict.relative < kKernelTolerance)
        continue;
      addFinding(section, probe.entry + ", kernel " + probe.label,
                 name + " " + verdict.shape + " differs by " + scientific(verdict.worst));
    }
  }
}

/// Adds to the section up to the first thing that is wrong.
static void judgeAll(const Bisection &bisection, const fs::path &goldens, double tolerance,
                     Section &section) {
  if (!importIsRight(bisection, goldens, tolerance, section))
    return;
  for (const PhaseVerdict &phase : bisection.phases) {
    addPhase(phase, section);
    if (phase.broken)
      return;
  }
  if (bisection.outcome.code != ExitCode::Done)
    return;
  try {
    judgeKernels(bisection, section);
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::machine)
      throw;
    section.notes.push_back("generate   not compared: this machine cannot run the kernels (" +
                            std::string(error.what()) + ")");
    return;
  }
  if (!section.changes.empty())
    return;
  section.notes.push_back("generate   " + std::to_string(bisection.kernels.size()) +
                          " kernels and library calls give what they should");
  section.notes.push_back("all parts are right; if the whole is not, the schedule is at fault");
}

Outcome accc::tool::bisect(const CompileOptions &options, const TensorMap &inputs,
                           double learningRate, const fs::path &goldens, const fs::path &scratch,
                           DiffReport &report) {
  Bisection bisection = bisectModel(options, inputs, learningRate, scratch);
  Section section{.name = "bisection"};
  if (!bisection.phases.empty())
    judgeAll(bisection, goldens, report.tolerance, section);
  report.add(std::move(section));
  return bisection.outcome;
}
