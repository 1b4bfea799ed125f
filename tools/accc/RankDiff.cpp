// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RankDiff.h"

#include "Command.h"
#include "Noise.h"
#include "Trajectory.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <span>
#include <thread>

using namespace accc;
using namespace accc::tool;

namespace {
/// Two sizes: of the whole batch, and of the part of a process.
struct Sizes {
  std::string_view whole, part;
};
} // namespace

static bool isGiven(const accc_value &input) {
  return input.usage == ACCC_DATA || input.usage == ACCC_TARGET;
}

static bool isTraining(const accc_entry &entry) { return kindOf(entry.name) == "train_step"; }

/// Whether an input of the part is as many times smaller in its first dimension.
static bool isPartOf(const accc_tensor &part, const accc_tensor &whole, int ranks) {
  std::span<const int64_t> few = shape_of(part), many = shape_of(whole);
  return part.dtype == whole.dtype && few.size() == many.size() && !few.empty() &&
         many[0] == few[0] * ranks && std::equal(few.begin() + 1, few.end(), many.begin() + 1);
}

/// Whether the inputs of one entry are the rows of the other's, one of them at least.
static bool isPartOf(const accc_entry &part, const accc_entry &whole, int ranks) {
  bool isSmaller = false;
  for (const accc_value &input : std::span(part.inputs, static_cast<size_t>(part.num_inputs))) {
    if (!isGiven(input))
      continue;
    const auto *end = whole.inputs + whole.num_inputs;
    const auto *same = std::find_if(whole.inputs, end, [&](const accc_value &other) {
      return std::string_view(other.tensor.name) == input.tensor.name;
    });
    if (same == end)
      return false;
    bool isPart = isPartOf(input.tensor, same->tensor, ranks);
    isSmaller |= isPart;
    if (!isPart && to_string(input.tensor) != to_string(same->tensor))
      return false;
  }
  return isSmaller;
}

static std::vector<Sizes> findSizes(const Model &model, int ranks) {
  std::vector<Sizes> found;
  for (const accc_entry &part : model.entries())
    for (const accc_entry &whole : model.entries())
      if (isTraining(part) && std::string_view(part.name) == whole.name &&
          isPartOf(part, whole, ranks) &&
          std::ranges::none_of(found, [&](const Sizes &sizes) { return sizes.part == part.sizes; }))
        found.push_back({whole.sizes, part.sizes});
  return found;
}

/// The share of one rank: its rows of what is smaller for a process.
static TensorMap shareOf(const TensorMap &whole, const TensorMap &parts, int rank) {
  TensorMap share;
  for (const auto &[name, tensor] : whole) {
    auto part = parts.find(name);
    if (part == parts.end() || part->second.shape() == tensor.shape()) {
      share.emplace(name, tensor);
      continue;
    }
    const int64_t rows = part->second.dim(0);
    share.emplace(name, tensor.rows(rank * rows, (rank + 1) * rows).clone());
  }
  return share;
}

static bool hasSameBits(const TensorMap &a, const TensorMap &b) {
  return std::ranges::equal(a, b, [](const auto &x, const auto &y) {
    return x.first == y.first &&
           std::memcmp(x.second.raw(), y.second.raw(), x.second.size_bytes()) == 0;
  });
}

namespace {
class RankDiff {
public:
  RankDiff(const std::string &library, int ranks, const RunSettings &settings,
           const DiffReport &report)
      : library(library), ranks(ranks), settings(settings), report(report),
        model(Model::load(library)) {
    for (const accc_entry &entry : model.entries())
      if (!evaluates(entry.name))
        run.entries.insert(entry.name);
    run.steps = settings.steps;
  }

  Section compare() {
    std::vector<Sizes> all = findSizes(model, ranks);
    if (all.empty())
      throw Error(ErrorKind::usage,
                  library + ": --simulate-ranks " + std::to_string(ranks) +
                      " needs a library for two sizes, of which one has " + std::to_string(ranks) +
                      " times the rows of the other: compile it with --data-parallel and, for "
                      "instance, -D batch=16," +
                      std::to_string(16 * ranks));
    Session alone(model);
    fillWeights(alone, settings.params);
    initial = variablesOf(alone);
    for (const Sizes &sizes : all)
      compareAt(sizes, alone);
    return std::move(section);
  }

private:
  void compareAt(const Sizes &sizes, Session &alone) {
    const TensorMap whole = settings.inputs.empty() ? randomInputsAt(model, sizes.whole)
                                                    : load_safetensors(settings.inputs);
    setVariables(alone, initial);
    alone.set_step(0);
    Trajectory expected = exchanged(record(alone, whole, run));
    std::vector<Trajectory> found = runAll(whole, randomInputsAt(model, sizes.part));
    for (size_t rank = 1; rank < found.size(); ++rank)
      if (!hasSameBits(found[rank].variables, found[0].variables))
        section.changes.push_back(
            {"variables of rank " + std::to_string(rank) + " at " + std::string(sizes.part),
             "those of rank 0", "others", true});
    section.notes.push_back(std::to_string(ranks) + " ranks at " + std::string(sizes.part) +
                            " against one at " + std::string(sizes.whole));
    auto measure = [&] { return measureNoise(alone, initial, whole, run, expected, allOf); };
    compareTrajectories(found[0], expected, std::string(sizes.part) + " ", report.tolerance,
                        measure, section.tensors);
  }

  /// Without what each process has of its own rows alone.
  static Trajectory exchanged(Trajectory trajectory) {
    trajectory.gradients.clear();
    return trajectory;
  }

  std::vector<Trajectory> runAll(const TensorMap &whole, const TensorMap &parts) {
    std::vector<Trajectory> found(static_cast<size_t>(ranks));
    std::exception_ptr failure; // the first: the others then lack one of the group
    std::mutex failing;
    std::vector<std::thread> threads;
    for (std::shared_ptr<Group> &group : thread_groups(ranks))
      threads.emplace_back([&, group = std::move(group)]() mutable {
        auto rank = static_cast<size_t>(group->rank());
        try {
          const TensorMap share = shareOf(whole, parts, group->rank());
          Session session(model, {.threads = 1, .group = std::move(group)});
          setVariables(session, initial);
          found[rank] = exchanged(record(session, share, run));
        } catch (...) {
          std::lock_guard lock(failing);
          if (!failure)
            failure = std::current_exception();
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    if (failure)
      std::rethrow_exception(failure);
    return found;
  }

  const std::string &library;
  const int ranks;
  const RunSettings &settings;
  const DiffReport &report;
  Model model;
  TrajectoryOptions run;
  TensorMap initial;
  Section section{.name = "numbers"};
};
} // namespace

void accc::tool::diffRanks(const std::string &library, int ranks, const RunSettings &settings,
                           DiffReport &report) {
  report.addNumbers([&] { return RankDiff(library, ranks, settings, report).compare(); });
}
