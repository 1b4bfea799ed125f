// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc bench LIB: how long a step takes.
#include "Command.h"
#include "Json.h"
#include "Print.h"
#include "support/HumanBytes.h"
#include "support/ModuleNames.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>

using namespace accc;
using namespace accc::tool;
using Clock = std::chrono::steady_clock;

namespace {
struct BenchOptions {
  std::string library, entry, inputs, params;
  std::vector<std::string> sizes;
  int64_t steps = 0, warmup = 3;
  int threads = 0;
  double seconds = 3;
  bool json = false, profile = false;
};
} // namespace

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

static double quantile(const std::vector<double> &sorted, double q) {
  return sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
}

/// The steps that take longest, equal labels together, with what their modules have in common.
static void printProfile(const std::vector<ProfiledStep> &steps, size_t runs) {
  struct Total {
    double seconds = 0;
    int count = 0;
    std::vector<std::string> modules = {};
  };
  std::map<std::string, Total> byLabel;
  double all = 0;
  for (const ProfiledStep &step : steps) {
    Total &total = byLabel[step.label];
    total.seconds += step.seconds;
    ++total.count;
    total.modules.push_back(step.module);
    all += step.seconds;
  }
  std::vector<std::pair<std::string, Total>> sorted(byLabel.begin(), byLabel.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto &a, const auto &b) { return a.second.seconds > b.second.seconds; });
  print("  %8s %6s %6s  step\n", "ms", "%", "count");
  for (size_t i = 0; i < std::min<size_t>(sorted.size(), 40); ++i) {
    const auto &[label, total] = sorted[i];
    std::string module = mergeModuleNames(total.modules);
    print("  %8.3f %6.1f %6d  %s%s%s\n", total.seconds * 1e3 / static_cast<double>(runs),
          100 * total.seconds / all, total.count, label.c_str(), module.empty() ? "" : "  in ",
          module.c_str());
  }
}

/// A line of /proc/self/status in bytes: VmRSS is what is resident now, VmHWM the most there was; 0
/// where there is no such file.
static uint64_t processMemory(const std::string &field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field + ":"))
      return std::stoull(line.substr(field.size() + 1)) * 1024;
  return 0;
}

/// Makes VmHWM start again from what is resident now; without effect where the system cannot.
static void resetPeakMemory() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// A profile as JSON: of each step its label and modules, milliseconds a run, the bytes of its
/// buffers (what it reads and writes at least), and whether a library makes it.
static nlohmann::ordered_json profileJson(const std::vector<ProfiledStep> &profile,
                                          const accc_entry &entry, size_t runs) {
  auto list = nlohmann::ordered_json::array();
  auto measured = profile.begin();
  for (const accc_step &step : std::span(entry.steps, static_cast<size_t>(entry.num_steps))) {
    if (step.kind == ACCC_STEP_CHECK || measured == profile.end())
      continue;
    uint64_t bytes = 0;
    for (const accc_buffer &buffer :
         std::span(entry.buffers + step.first_buffer, static_cast<size_t>(step.num_buffers)))
      if (buffer.space != ACCC_STATUS)
        bytes += buffer.bytes * (buffer.access == ACCC_READ_WRITE ? 2 : 1);
    list.push_back({{"label", step.label},
                    {"module", measured->module},
                    {"library", step.kind == ACCC_STEP_LIBRARY_CALL},
                    {"ms", measured->seconds * 1e3 / static_cast<double>(runs)},
                    {"bytes", bytes}});
    ++measured;
  }
  return list;
}

static int bench(const BenchOptions &options) {
  uint64_t baseBytes = processMemory("VmRSS");
  auto start = Clock::now();
  Model model = Model::load(options.library);
  SessionOptions settings;
  settings.threads = options.threads;
  settings.learning_rate = 0; // the same work at every step, whatever the data
  Session session(model, settings);
  fillWeights(session, options.params);
  std::string name = options.entry;
  if (name.empty())
    name = model.find_entry("train_step") ? "train_step" : model.entries().front().name;
  checkEntry(model, name);
  TensorMap inputs;
  if (!options.inputs.empty())
    inputs = load_safetensors(options.inputs);
  const accc_entry &entry = options.inputs.empty()
                                ? model.entry(name, chooseSizes(model, options.sizes))
                                : session.choose(name, inputs);
  session.prepare(name, entry.sizes);
  double loadSeconds = secondsSince(start);

  if (options.inputs.empty())
    inputs = randomInputs(entry, 42);
  std::optional<double> loss; // of the first step
  if (Result result = session.run(name, inputs); result.has_loss())
    loss = result.loss();
  for (int64_t i = 1; i < options.warmup; ++i)
    session.run(name, inputs);
  if (options.profile)
    session.start_profile();
  uint64_t loadPeakBytes = processMemory("VmHWM");
  resetPeakMemory();
  // No result is read: on a GPU each run waits for the last but one, so that the host's work is
  // hidden, as in training.
  std::vector<double> times;
  start = Clock::now();
  while (options.steps ? times.size() < static_cast<size_t>(options.steps)
                       : times.size() < 5 || secondsSince(start) < options.seconds) {
    auto begin = Clock::now();
    session.run(name, inputs);
    times.push_back(secondsSince(begin) * 1e3);
  }
  session.synchronize();
  std::sort(times.begin(), times.end());

  uint64_t stepPeakBytes = processMemory("VmHWM");
  uint64_t peakBytes = std::max(loadPeakBytes, stepPeakBytes);
  nlohmann::ordered_json report{
      {"library", options.library},
      {"entry", name},
      {"sizes", entry.sizes},
      {"arch", model.code().arch},
      {"threads", session.threads()},
      {"steps", times.size()},
      {"median_ms", quantile(times, 0.5)},
      {"min_ms", times.front()},
      {"p10_ms", quantile(times, 0.1)},
      {"p90_ms", quantile(times, 0.9)},
      {"launches", entry.num_launches},
      {"library_calls", entry.num_library_calls},
      {"custom_calls", entry.num_custom_calls},
      {"collectives", entry.num_collectives},
      {"arena_bytes", entry.arena_size},
      {"state_bytes", session.state_bytes()},
      {"working_bytes", session.working_bytes()},
      {"peak_bytes", peakBytes},
      {"step_peak_bytes", stepPeakBytes - std::min(baseBytes, stepPeakBytes)},
      {"load_ms", loadSeconds * 1e3},
  };
  if (loss)
    report["loss"] = *loss;
  if (options.profile)
    report["profile"] = profileJson(session.profile(name, entry.sizes), entry, times.size());
  if (options.json) {
    std::cout << toText(report) << "\n";
    return 0;
  }
  print("%s %s%s%s, %s, %d threads, %zu steps\n", options.library.c_str(), name.c_str(),
        *entry.sizes ? " " : "", entry.sizes, archName(model.code().arch).c_str(),
        session.threads(), times.size());
  print("  step        %.3f ms median, %.3f to %.3f (10%% to 90%%)\n", quantile(times, 0.5),
        quantile(times, 0.1), quantile(times, 0.9));
  print("  launches    %d kernels, %d library calls", entry.num_launches, entry.num_library_calls);
  if (entry.num_custom_calls)
    print(", %d custom calls", entry.num_custom_calls);
  if (entry.num_collectives)
    print(", %d collectives", entry.num_collectives);
  print("\n");
  print("  memory      %s state, %s arena, %s at the peak of the process\n",
        humanBytes(session.state_bytes()).c_str(), humanBytes(entry.arena_size).c_str(),
        humanBytes(peakBytes).c_str());
  print("  load        %.1f ms\n", loadSeconds * 1e3);
  if (options.profile)
    printProfile(session.profile(name, entry.sizes), times.size());
  return 0;
}

void accc::tool::addBench(CLI::App &app, Action &action) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *command = app.add_subcommand("bench", "Measure the time of an entry point");
  command->add_option("LIB", options->library, "The library")->required();
  command->add_option("--entry", options->entry,
                      "Entry point; default: train_step, or the first one");
  command
      ->add_option("--inputs", options->inputs,
                   "Inputs by name; default: random floats, integers 0 or 1")
      ->type_name("IN.safetensors");
  command
      ->add_option("--params", options->params,
                   "Initial parameters and buffers; default: those of the library, or random")
      ->type_name("P.safetensors");
  command
      ->add_option(
          "-D", options->sizes,
          "Size to measure, for a library with several; default: that of --inputs, or the first")
      ->type_name("DIM=N")
      ->allow_extra_args(false)
      ->excludes("--inputs");
  command
      ->add_option("--steps", options->steps,
                   "Number of steps; default: as many as fit into --seconds")
      ->check(wholeNumber(1));
  command->add_option("--seconds", options->seconds, "Duration of the measurement")
      ->excludes("--steps")
      ->check(finiteNumber(0))
      ->capture_default_str();
  command->add_option("--warmup", options->warmup, "Number of warm-up steps")
      ->check(wholeNumber(1))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Number of threads; 0 = OpenMP's default")
      ->check(wholeNumber(0, kMostThreads))
      ->capture_default_str();
  command->add_flag("--profile", options->profile,
                    "Print the time of each kernel and library call (with --json of all)");
  command->add_flag("--json", options->json, "Print the results as JSON");
  command->callback([options, &action] { action = [options] { return bench(*options); }; });
}
