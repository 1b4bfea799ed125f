// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Snapshot.h"

#include "Command.h"
#include "driver/KernelCode.h"

#include <algorithm>
#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <set>
#include <span>

using namespace accc;
using namespace accc::tool;
using nlohmann::ordered_json;

std::string accc::tool::fullName(const accc_entry &entry) {
  return std::string(entry.name) + (*entry.sizes ? " " : "") + entry.sizes;
}

// ---- Description ----

/// With the options of loss and optimizer apart, of which the manifest has all, a spec is its name.
static ordered_json describeManifest(const Model &model) {
  auto manifest = ordered_json::parse(model.description().manifest, nullptr, false);
  if (!manifest.is_object())
    return ordered_json::object();
  for (const std::string spec : {"loss", "optimizer"})
    if (manifest.contains(spec) && manifest[spec].is_string() &&
        manifest.contains(spec + "_options")) {
      auto text = manifest[spec].get<std::string>();
      manifest[spec] = text.substr(0, text.find(','));
    }
  return manifest;
}

static ordered_json describeValues(const accc_value *values, int count) {
  ordered_json list = ordered_json::object();
  for (int i = 0; i < count; ++i)
    list[values[i].tensor.name] = to_string(values[i].tensor);
  return list;
}

static ordered_json describeInterface(const Model &model) {
  static const char *roles[] = {"", "parameter", "buffer", "optimizer state"};
  ordered_json entries = ordered_json::object(), variables = ordered_json::object();
  for (const accc_entry &entry : model.entries())
    entries[fullName(entry)] = {{"input", describeValues(entry.inputs, entry.num_inputs)},
                                {"output", describeValues(entry.outputs, entry.num_outputs)}};
  for (const accc_variable &variable : model.variables())
    variables[variable.tensor.name] =
        to_string(variable.tensor) + " " + roles[variable.role] +
        (variable.role == ACCC_PARAMETER && !variable.trainable ? ", frozen" : "");
  return {{"entry", entries}, {"variable", variables}};
}

/// A step's label without the number that tells kernels of one name apart, "add.2 -> 4x3".
static std::string withoutNumber(const std::string &label) {
  size_t end = label.find(' '), dot = label.rfind('.', end);
  if (end == std::string::npos || dot == std::string::npos ||
      !std::all_of(label.begin() + static_cast<long>(dot) + 1,
                   label.begin() + static_cast<long>(end),
                   [](unsigned char c) { return std::isdigit(c); }))
    return label;
  return label.substr(0, dot) + label.substr(end);
}

namespace {
/// The kernels or library calls of one label in an entry point.
struct Launches {
  int count = 0;
  std::set<uint64_t> codes; // of kernels; 0: not known
};
} // namespace

static ordered_json describe(const std::map<std::string, Launches> &byLabel) {
  ordered_json labels = ordered_json::object();
  for (const auto &[label, launches] : byLabel) {
    ordered_json &described = labels[label] = {{"launches", launches.count}};
    std::string text;
    for (uint64_t code : launches.codes) {
      char digits[20];
      std::snprintf(digits, sizeof digits, "%s%016" PRIx64, text.empty() ? "" : " ", code);
      text += digits;
    }
    if (!launches.codes.empty() && !launches.codes.contains(0))
      described["code"] = text;
  }
  return labels;
}

static ordered_json describeKernels(const Model &model) {
  const accc_model_description &description = model.description();
  ordered_json codes = ordered_json::object();
  for (const accc_code *code :
       std::span(description.codes, static_cast<size_t>(description.num_codes))) {
    std::vector<uint64_t> fingerprints = fingerprintKernels(model.path(), *code);
    ordered_json &entries = codes[std::string(code->target) + " " + archName(code->arch)] =
        ordered_json::object();
    for (const accc_entry &entry :
         std::span(code->entries, static_cast<size_t>(code->num_entries))) {
      std::map<std::string, Launches> byLabel;
      for (const accc_step &step : std::span(entry.steps, static_cast<size_t>(entry.num_steps))) {
        if (step.kind == ACCC_STEP_CHECK)
          continue;
        Launches &launches = byLabel[withoutNumber(step.label)];
        ++launches.count;
        if (step.kind == ACCC_STEP_LAUNCH)
          launches.codes.insert(fingerprints[static_cast<size_t>(step.index)]);
      }
      entries[fullName(entry)] = describe(byLabel);
    }
  }
  return codes;
}

/// With the buffers of all entry points; nothing where this machine cannot run the library.
static std::optional<uint64_t> workingBytes(const std::string &library) {
  try {
    Session session(Model::load(library));
    for (const accc_entry &entry : session.model().entries())
      session.prepare(entry.name, entry.sizes);
    return session.working_bytes();
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::machine)
      throw;
    return std::nullopt;
  }
}

static ordered_json describeMemory(const Model &model) {
  ordered_json memory{{"state bytes", model.description().state_size},
                      {"constants bytes", model.description().constants_bytes}};
  for (const accc_entry &entry : model.entries())
    memory["arena bytes"][fullName(entry)] = entry.arena_size;
  if (std::optional<uint64_t> bytes = workingBytes(model.path()))
    memory["working bytes"] = *bytes;
  return memory;
}

ordered_json accc::tool::describeForDiff(const std::string &library) {
  Model model = Model::describe(library);
  return {{"manifest", describeManifest(model)},
          {"interface", describeInterface(model)},
          {"kernels", describeKernels(model)},
          {"memory", describeMemory(model)}};
}

// ---- Comparison ----

/// Gives a part of an object another name.
static void rename(ordered_json &object, const std::string &from, const std::string &to) {
  if (!object.is_object() || !object.contains(from))
    return;
  ordered_json value = std::move(object[from]);
  object.erase(from);
  object[to] = std::move(value);
}

/// Of the parts that only one object has, pairs that `areTwins`: (name in a, name in b).
template <typename Predicate>
static std::vector<std::pair<std::string, std::string>>
findTwins(const ordered_json &a, const ordered_json &b, Predicate areTwins) {
  std::vector<std::pair<std::string, std::string>> twins;
  for (const auto &[name, part] : a.items()) {
    if (b.contains(name))
      continue;
    for (const auto &[other, otherPart] : b.items())
      if (!a.contains(other) && areTwins(name, part, other, otherPart)) {
        twins.emplace_back(name, other);
        break;
      }
  }
  return twins;
}

static std::string firstWord(const std::string &text) { return text.substr(0, text.find(' ')); }

/// Names the entry points and codes of b as their twins in a, and leaves out what then says
/// nothing.
static void align(ordered_json &a, ordered_json &b) {
  auto takeTheSame = [](const std::string &name, const ordered_json &entry,
                        const std::string &other, const ordered_json &otherEntry) {
    return firstWord(name) == firstWord(other) &&
           entry.value("input", ordered_json()) == otherEntry.value("input", ordered_json());
  };
  for (const auto &[name, other] :
       findTwins(a["interface"]["entry"], b["interface"]["entry"], takeTheSame)) {
    rename(b["interface"]["entry"], other, name);
    rename(b["memory"]["arena bytes"], other, name);
    for (auto &[code, entries] : b["kernels"].items())
      rename(entries, other, name);
  }
  auto haveOne = [&](const std::string &target) {
    auto count = [&](const ordered_json &codes) {
      return std::count_if(codes.items().begin(), codes.items().end(),
                           [&](const auto &item) { return firstWord(item.key()) == target; });
    };
    return count(a["kernels"]) == 1 && count(b["kernels"]) == 1;
  };
  auto areOfOneTarget = [&](const std::string &code, const ordered_json &, const std::string &other,
                            const ordered_json &) {
    return firstWord(code) == firstWord(other) && haveOne(firstWord(code));
  };
  for (const auto &[code, other] : findTwins(a["kernels"], b["kernels"], areOfOneTarget)) {
    rename(b["kernels"], other, code);
    for (ordered_json *side : {&a, &b}) // for another machine it is other code
      for (auto &[entry, labels] : (*side)["kernels"][code].items())
        for (auto &[label, launches] : labels.items())
          launches.erase("code");
  }
}

static std::string textOf(const ordered_json &value) {
  return value.is_string() ? value.get<std::string>() : value.is_object() ? "there" : value.dump();
}

/// Adds what differs, each part under the names on the way to it.
static void compare(const ordered_json &a, const ordered_json &b, const std::string &path,
                    std::vector<Change> &changes) {
  auto within = [&](const std::string &name) { return path.empty() ? name : path + " " + name; };
  for (const auto &[name, value] : a.items())
    if (!b.contains(name))
      changes.push_back({within(name), textOf(value), std::nullopt});
    else if (value.is_object() && b[name].is_object())
      compare(value, b[name], within(name), changes);
    else if (value != b[name])
      changes.push_back({within(name), textOf(value), textOf(b[name])});
  for (const auto &[name, value] : b.items())
    if (!a.contains(name))
      changes.push_back({within(name), std::nullopt, textOf(value)});
}

/// Whether an option in the manifest says how the model is trained.
static bool isTraining(const std::string &option) {
  for (const char *name :
       {"loss", "loss_options", "optimizer", "optimizer_options", "learning_rate", "train",
        "param_groups", "group_options", "freeze", "assume_dropout_training",
        "assume_batchnorm_training", "running_variance", "loss_scale", "data_parallel",
        "sync_batch_norm", "accumulate_gradients", "average_weights"})
    if (firstWord(option) == name)
      return true;
  return false;
}

void accc::tool::compareSnapshots(const ordered_json &a, ordered_json b, DiffReport &report) {
  // Measured on one side only: no difference.
  if (!a["memory"].contains("working bytes"))
    b["memory"].erase("working bytes");
  ordered_json left = a;
  if (!b["memory"].contains("working bytes"))
    left["memory"].erase("working bytes");
  align(left, b);
  for (const char *name : {"manifest", "interface", "kernels", "memory"}) {
    Section section{.name = name};
    compare(left[name], b[name], "", section.changes);
    for (Change &change : section.changes)
      change.fails =
          report.choice.failsOn(name) || (section.name == "manifest" && isTraining(change.what) &&
                                          report.choice.failsOn(kTraining));
    report.add(std::move(section));
  }
}
