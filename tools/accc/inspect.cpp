// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc inspect MODEL|LIB: what is in it.
#include "Command.h"
#include "Json.h"
#include "Print.h"

#include "driver/GpuKernels.h"
#include "support/HumanBytes.h"

#include <cstdio>
#include <iostream>
#include <memory>
#include <set>
#include <span>

using namespace accc;
using namespace accc::tool;
using nlohmann::ordered_json;

/// Of warp instructions that a launch may take to be counted: a minute.
static constexpr uint64_t kStepLimit = uint64_t(1) << 28;

static ordered_json describeValues(const accc_value *values, int count) {
  static const char *usages[] = {"",     "data", "target", "learning_rate",
                                 "seed", "step", "loss",   "gradient"};
  ordered_json list = ordered_json::array();
  for (int i = 0; i < count; ++i)
    list.push_back({{"name", values[i].tensor.name},
                    {"type", to_string(values[i].tensor)},
                    {"usage", usages[values[i].usage]}});
  return list;
}

/// Each call of a function of the user's.
static ordered_json describeCustomCalls(const accc_entry &entry) {
  ordered_json list = ordered_json::array();
  for (int i = 0; i < entry.num_custom_calls; ++i) {
    const accc_custom_call &call = entry.custom_calls[i];
    list.push_back(
        {{"name", call.name}, {"library", call.library}, {"backward", call.backward != 0}});
  }
  return list;
}

static ordered_json describeLibrary(const Model &model) {
  static const char *roles[] = {"", "parameter", "buffer", "optimizer_state"};
  const accc_model_description &d = model.description();
  ordered_json archs = ordered_json::array(), codes = ordered_json::array();
  for (int i = 0; i < d.num_codes; ++i) {
    archs.push_back(d.codes[i]->arch);
    codes.push_back({{"target", d.codes[i]->target}, {"arch", d.codes[i]->arch}});
  }
  ordered_json json{{"model", d.name},
                    {"compiler", d.compiler_version},
                    {"target", model.code().target},
                    {"arch", model.code().arch},
                    {"archs", archs},
                    {"codes", codes},
                    {"sizes", model.sizes()},
                    {"weights_file", d.weights_file ? d.weights_file : ""},
                    {"state_bytes", d.state_size}};
  auto manifest = ordered_json::parse(d.manifest, nullptr, false);
  json["manifest"] = manifest.is_discarded() ? ordered_json(d.manifest) : manifest;
  for (const accc_entry &entry : model.entries())
    json["entries"].push_back({{"name", entry.name},
                               {"sizes", entry.sizes},
                               {"launches", entry.num_launches},
                               {"library_calls", entry.num_library_calls},
                               {"custom_calls", describeCustomCalls(entry)},
                               {"collectives", entry.num_collectives},
                               {"arena_bytes", entry.arena_size},
                               {"inputs", describeValues(entry.inputs, entry.num_inputs)},
                               {"outputs", describeValues(entry.outputs, entry.num_outputs)}});
  for (const accc_variable &variable : model.variables())
    json["variables"].push_back({{"name", variable.tensor.name},
                                 {"type", to_string(variable.tensor)},
                                 {"role", roles[variable.role]},
                                 {"trainable", variable.trainable != 0}});
  return json;
}

static void printList(const ordered_json &list, const char *indent) {
  for (const auto &item : list) {
    std::cout << indent << item["name"].get<std::string>() << "  "
              << item["type"].get<std::string>();
    for (const char *key : {"usage", "role"})
      if (item.contains(key) && item[key] != "data")
        std::cout << "  " << item[key].get<std::string>();
    std::cout << "\n";
  }
}

/// What became of the module's parameters in the export, of a manifest or a model's description.
static void printExport(const ordered_json &json, const char *damage) {
  if (json.contains("recovered") && !json["recovered"].empty()) {
    std::cout << "recovered\n";
    for (const auto &line : json["recovered"])
      std::cout << "  " << line.get<std::string>() << "\n";
  }
  if (json.contains("aliases")) {
    std::cout << "aliases\n";
    for (const auto &[name, others] : json["aliases"].items())
      for (const auto &alias : others)
        std::cout << "  " << alias.get<std::string>() << "  is " << name << "\n";
  }
  if (json.contains(damage))
    std::cout << "lost in the export: " << json[damage].get<std::string>() << "\n";
}

/// "2 custom calls, ", nothing where there are none.
static std::string countIfAny(size_t count, const std::string &what) {
  return count == 0 ? "" : std::to_string(count) + " " + what + ", ";
}

static void printCustomOperators(const ordered_json &calls) {
  std::set<std::string> operators;
  for (const auto &call : calls)
    operators.insert(call["name"].get<std::string>() + " of " + call["library"].get<std::string>());
  if (!operators.empty())
    std::cout << "  custom operators\n";
  for (const std::string &name : operators)
    std::cout << "    " << name << "\n";
}

static void printLibrary(const ordered_json &json) {
  std::cout << json["model"].get<std::string>() << ": " << json["compiler"].get<std::string>()
            << ", " << json["target"].get<std::string>() << " " << archName(json["arch"]);
  if (json["codes"].size() > 1) {
    std::cout << " of";
    ordered_json target = json["target"]; // named where it changes
    for (const auto &code : json["codes"]) {
      if (code["target"] != target)
        std::cout << " " << code["target"].get<std::string>();
      target = code["target"];
      std::cout << " " << archName(code["arch"]);
    }
  }
  if (json["manifest"].is_object() && json["manifest"].value("precision", "fp32") != "fp32")
    std::cout << ", " << json["manifest"]["precision"].get<std::string>();
  std::cout << ", " << humanBytes(json["state_bytes"].get<double>()) << " state\n";
  for (const auto &entry : json.value("entries", ordered_json::array())) {
    std::cout << entry["name"].get<std::string>();
    if (entry["sizes"] != "")
      std::cout << " " << entry["sizes"].get<std::string>();
    std::cout << ": " << entry["launches"] << " launches, " << entry["library_calls"]
              << " library calls, " << countIfAny(entry["custom_calls"].size(), "custom calls")
              << countIfAny(entry["collectives"].get<size_t>(), "collectives")
              << humanBytes(entry["arena_bytes"].get<double>()) << " arena\n";
    printCustomOperators(entry["custom_calls"]);
    std::cout << "  inputs\n";
    printList(entry["inputs"], "    ");
    std::cout << "  outputs\n";
    printList(entry["outputs"], "    ");
  }
  std::cout << "variables\n";
  printList(json.value("variables", ordered_json::array()), "  ");
  if (json["manifest"].is_object())
    printExport(json["manifest"], "accepted_damage");
}

static void printModel(const ordered_json &json) {
  if (json.is_array()) {
    for (const ordered_json &model : json)
      printModel(model);
    return;
  }
  std::string sizes = json["sizes"];
  std::cout << json["model"].get<std::string>() << (sizes.empty() ? "" : " " + sizes) << ": "
            << json["parameters"].get<int64_t>() << " parameters, "
            << humanBytes(json["parameter_bytes"].get<double>()) << ", "
            << json["flops"].get<double>() / 1e6 << " MFLOPs forward, "
            << humanBytes(json["activation_bytes"].get<double>()) << " of values\n";
  for (const char *key : {"inputs", "outputs", "variables"}) {
    std::cout << key << "\n";
    printList(json[key], "  ");
  }
  printExport(json, "damage");
  std::cout << "ops\n";
  for (const auto &[name, count] : json["ops"].items())
    std::cout << "  " << name << "  " << count << "\n";
}

/// Of the library's PTX.
static ordered_json describeKernels(const Model &model) {
  const accc_model_description &d = model.description();
  const accc_code *ptx = nullptr;
  for (int i = 0; i < d.num_codes && !ptx; ++i)
    if (std::string_view(d.codes[i]->arch).starts_with("compute_"))
      ptx = d.codes[i];
  if (!ptx)
    throw Error(ErrorKind::usage,
                model.path() + " holds no PTX, whose kernels could be counted: compile it with "
                               "--target cuda");
  ordered_json json;
  for (const accc_entry &entry : std::span(ptx->entries, static_cast<size_t>(ptx->num_entries))) {
    std::string name = entry.name + (*entry.sizes ? " " + std::string(entry.sizes) : "");
    ordered_json &list = json[name] = ordered_json::array();
    for (const GpuLaunches &l : countLaunches(*ptx, entry, kStepLimit)) {
      ordered_json row{{"label", l.label},   {"module", l.module},   {"launches", l.count},
                       {"blocks", l.blocks}, {"threads", l.threads}, {"least_bytes", l.leastBytes}};
      if (l.error.empty())
        row.update({{"moved_bytes", l.movedBytes},
                    {"instructions", l.instructions},
                    {"bank_conflicts", l.bankConflicts}});
      else
        row["error"] = l.error;
      if (l.registers)
        row.update({{"registers", *l.registers}, {"spilled_bytes", l.spilledBytes}});
      list.push_back(std::move(row));
    }
  }
  return json;
}

static std::string inModule(const std::string &module) {
  return module.empty() ? "" : "  in " + module;
}

static void printKernels(const ordered_json &json) {
  for (const auto &[entry, list] : json.items()) {
    print("%s\n  launches  blocks x threads   least bytes   moved  warp instr.  regs spills  "
          "kernel\n",
          entry.c_str());
    for (const ordered_json &row : list) {
      double least = row["least_bytes"].get<double>(), moved = row.value("moved_bytes", 0.0);
      print("  %8d %7lld x %-7d %13s %6.2fx %12lld %5d %6d  %s%s\n", row["launches"].get<int>(),
            row["blocks"].get<long long>(), row["threads"].get<int>(), humanBytes(least).c_str(),
            least > 0 ? moved / least : 0, row.value("instructions", 0LL),
            row.value("registers", 0), row.value("spilled_bytes", 0),
            row["label"].get<std::string>().c_str(),
            inModule(row["module"].get<std::string>()).c_str());
      if (row.contains("error"))
        print("           not counted: %s\n", row["error"].get<std::string>().c_str());
    }
  }
}

/// `given` are the options about models that the command line has.
static int inspect(const CompileOptions &options, bool json, bool kernels,
                   const std::vector<std::string> &given) {
  if (isLibrary(options.model)) {
    if (!given.empty())
      throw Error(ErrorKind::usage, given.front() + " is about a model, and " + options.model +
                                        " is a library, which was compiled with its options");
    Model model = Model::describe(options.model);
    ordered_json description = describeLibrary(model);
    if (kernels)
      description["kernels"] = describeKernels(model);
    if (json)
      std::cout << toText(description) << "\n";
    else
      printLibrary(description);
    if (kernels && !json)
      printKernels(description["kernels"]);
    return 0;
  }
  if (kernels)
    throw Error(ErrorKind::usage,
                options.model + " is no library: --kernels counts those of a compiled one");
  auto work = [&] {
    Outcome outcome = inspectModel(options);
    printProblems(outcome);
    if (outcome.code != ExitCode::Done) {
      if (json)
        std::cout << toText(toJson(outcome)) << "\n";
      return static_cast<int>(outcome.code);
    }
    if (json)
      std::cout << outcome.text << "\n";
    else
      printModel(ordered_json::parse(outcome.text));
    return 0;
  };
  return guardAgainstCrashes(work, [&](const Crash &crash) { reportCrash(options, crash, json); });
}

void accc::tool::addInspect(CLI::App &app, Action &action) {
  auto options = std::make_shared<CompileOptions>();
  auto json = std::make_shared<bool>(false), kernels = std::make_shared<bool>(false);
  CLI::App *command = app.add_subcommand(
      "inspect", "Show a model's inputs, parameters and ops, or a library's entry points");
  addCompileOptions(*command, *options);
  const std::vector<CLI::Option *> ofModels = command->get_options();
  command->get_option("MODEL")->description("A model file or a library");
  command->add_flag("--json", *json,
                    "Print as JSON; for a model with problems the problems, as check does");
  command->add_flag("--kernels", *kernels,
                    "Count the cost of each GPU kernel of a library with PTX; needs no GPU");
  command->callback([options, json, kernels, ofModels, &action] {
    std::vector<std::string> given;
    for (const CLI::Option *option : ofModels)
      if (option->count() && !option->get_positional())
        given.push_back(option->get_name());
    action = [options, json, kernels, given] { return inspect(*options, *json, *kernels, given); };
  });
}
