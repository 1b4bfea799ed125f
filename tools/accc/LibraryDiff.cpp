// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LibraryDiff.h"

#include "Command.h"
#include "Json.h"
#include "Noise.h"
#include "Snapshot.h"
#include "Trajectory.h"

#include <algorithm>
#include <cmath>

using namespace accc;
using namespace accc::tool;

/// The entry of another library that takes the same data.
static const accc_entry *findTwin(const accc_entry &entry, const Model &other) {
  auto isSame = [](const accc_value &x, const accc_value &y) {
    return std::string_view(x.tensor.name) == y.tensor.name &&
           to_string(x.tensor) == to_string(y.tensor);
  };
  for (const accc_entry &twin : other.entries())
    if (std::string_view(twin.name) == entry.name && entry.num_inputs == twin.num_inputs &&
        std::is_permutation(entry.inputs, entry.inputs + entry.num_inputs, twin.inputs, isSame))
      return &twin;
  return nullptr;
}

static bool fits(const accc_entry &entry, std::string_view sizes) {
  return sizes.empty() || !*entry.sizes || entry.sizes == sizes;
}

namespace {
class NumbersDiff {
public:
  NumbersDiff(const RunSettings &settings, const DiffReport &report)
      : settings(settings), report(report), a(load(report.a)), b(load(report.b)) {}

  Section compare() {
    Session before(a), after(b);
    fillWeights(before, settings.params);
    fillWeights(after, settings.params);
    initialA = variablesOf(before);
    initialB = variablesOf(after);
    TensorMap given;
    std::vector<std::string_view> allSizes = a.sizes();
    if (!settings.inputs.empty()) {
      given = load_safetensors(settings.inputs);
      allSizes = {before.choose(a.entries().front().name, given).sizes};
    }
    for (std::string_view sizes : allSizes)
      compareAt(sizes, settings.inputs.empty() ? randomInputsAt(a, sizes) : given, before, after);
    reportMissing();
    return section;
  }

private:
  static Model load(const std::string &path) {
    try {
      return Model::load(path);
    } catch (const Error &error) {
      if (error.kind() != ErrorKind::machine)
        throw;
      throw Error(ErrorKind::machine, std::string(error.what()) +
                                          "; --only manifest,interface,kernels compares without "
                                          "running it");
    }
  }

  void compareAt(std::string_view sizes, const TensorMap &inputs, Session &before, Session &after) {
    TrajectoryOptions options{.steps = settings.steps};
    for (const accc_entry &entry : a.entries())
      if (fits(entry, sizes) && findTwin(entry, b))
        options.entries.insert(entry.name);
    auto restart = [](Session &session, const TensorMap &initial) {
      setVariables(session, initial);
      session.set_step(0);
    };
    restart(before, initialA);
    Trajectory expected = record(before, inputs, options);
    noteDivergence(expected);
    options.gradients = &expected.gradients;
    restart(after, initialB);
    setVariables(after, initialA);
    auto measure = [&] { return measureNoise(before, initialA, inputs, options, expected, allOf); };
    compareTrajectories(record(after, inputs, options), expected,
                        sizes.empty() ? "" : std::string(sizes) + " ", report.tolerance, measure,
                        section.tensors);
  }

  /// What is no number equals itself: a run that diverged says little.
  void noteDivergence(const Trajectory &expected) {
    for (const TensorMap *part : {&expected.gradients, &expected.losses})
      for (const auto &[name, tensor] : *part)
        if (name == "loss" || name.ends_with(" loss") || isLossesName(name))
          for (Tensor wide = tensor.to(DType::f64); double loss : wide.data<double>())
            if (!std::isfinite(loss)) {
              section.notes.push_back(name + " of " + report.a + ": " + std::to_string(loss) +
                                      "; choose --inputs, or fewer --steps, that say more");
              return;
            }
  }

  /// Entry points that could not be run on both.
  void reportMissing() {
    bool fails = report.choice.failsOn(section.name);
    for (const accc_entry &entry : a.entries())
      if (!findTwin(entry, b))
        section.changes.push_back({fullName(entry) + " with these inputs", "", {}, fails});
    for (const accc_entry &entry : b.entries())
      if (!findTwin(entry, a))
        section.changes.push_back({fullName(entry) + " with these inputs", {}, "", fails});
  }

  const RunSettings &settings;
  const DiffReport &report;
  Model a, b;
  TensorMap initialA, initialB;
  Section section{.name = "numbers"};
};
} // namespace

void accc::tool::diffLibraries(const RunSettings &settings, DiffReport &report) {
  compareSnapshots(describeForDiff(report.a), describeForDiff(report.b), report);
  report.addNumbers([&] { return NumbersDiff(settings, report).compare(); });
}

void accc::tool::diffDescription(const std::string &library, const std::string &folder,
                                 DiffReport &report) {
  GoldenMeta meta = readGoldenMeta(folder, library);
  if (meta.snapshot.empty())
    return;
  try {
    compareSnapshots(nlohmann::ordered_json::parse(meta.snapshot), describeForDiff(library),
                     report);
  } catch (const nlohmann::json::exception &error) {
    throw Error(ErrorKind::data, (std::filesystem::path(folder) / kMetaFile).string() +
                                     ": library: " + describe(error));
  }
}
