// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc golden LIB -o DIR: what a library computes, for `accc diff` to hold later ones against.
#include "Command.h"
#include "Goldens.h"
#include "Json.h"
#include "ScratchFolder.h"
#include "Snapshot.h"
#include "accc/links.h"
#include "driver/TextFile.h"

#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>

using namespace accc;
using namespace accc::tool;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {
struct RecordOptions {
  std::string library, output, inputs, params;
  std::vector<std::string> sizes;
  StepOptions run{.steps = 3};
  bool json = false;
};
} // namespace

/// Throws Error (usage) unless the folder may be written: it is not there, empty, or holds goldens
/// that this command wrote and nothing else.
static void checkOutput(const std::string &output) {
  if (!fs::exists(output)) {
    fs::path folder = fs::absolute(output).lexically_normal();
    return checkWritable(
        {folder.has_filename() ? folder : folder.parent_path()}); // before the steps
  }
  if (!fs::is_directory(output))
    throw Error(ErrorKind::usage, output + " is there and is no folder");
  for (const fs::directory_entry &entry : fs::directory_iterator(output)) {
    std::string name = entry.path().filename();
    if (name != kMetaFile && name != kInputsFile && name != kInitialFile && name != kGoldenFile)
      throw Error(ErrorKind::usage, output + " holds " + name +
                                        ", which would be lost: goldens get a folder of their own");
  }
  if (!fs::is_empty(output) && !readGoldenMeta(output, "").isOwn)
    throw Error(ErrorKind::usage,
                output + " holds goldens that accc golden did not write; name another folder");
}

/// The goldens of a run that computes nothing would agree with anything.
static void checkFinite(const TensorMap &goldens) {
  for (const char *name : {"loss", "losses"})
    if (auto found = goldens.find(name); found != goldens.end())
      for (Tensor wide = found->second.to(DType::f64); double loss : wide.data<double>())
        if (!std::isfinite(loss))
          throw Error(ErrorKind::data,
                      "the loss is " + std::to_string(loss) +
                          ": look at the inputs and the learning rate (--lr); nothing was written");
}

static ordered_json split(const std::string &text) { return CLI::detail::split(text, ','); }

/// Whether the model has variables of 16-bit floats.
static bool holdsHalf(const Model &model) {
  return std::ranges::any_of(model.variables(), [](const accc_variable &variable) {
    return variable.tensor.dtype == ACCC_F16 || variable.tensor.dtype == ACCC_BF16;
  });
}

/// How the run was made, in the terms of `accc compile` and `accc run`.
static ordered_json describeRun(const Session &session, const RecordOptions &options,
                                std::string_view sizes) {
  const Model &model = session.model();
  auto manifest = ordered_json::parse(model.description().manifest, nullptr, false);
  if (!manifest.is_object())
    manifest = ordered_json::object();
  ordered_json dimensions = ordered_json::object();
  const auto compiled = manifest.value("dimensions", ordered_json::object());
  for (const auto &[name, values] : compiled.items())
    dimensions[name] = values.front();
  for (const std::string &part : CLI::detail::split(std::string(sizes), ','))
    if (size_t equals = part.find('='); equals != std::string::npos)
      dimensions[part.substr(0, equals)] = std::stoll(part.substr(equals + 1));
  ordered_json meta{{"accc", model.description().compiler_version},
                    {"model", manifest.value("model", "")},
                    {"loss", manifest.value("loss", ordered_json(""))},
                    {"optimizer", manifest.value("optimizer", ordered_json(""))},
                    {"lr", session.learning_rate()},
                    {"seed", session.seed()},
                    {"steps", options.run.steps},
                    {"dims", dimensions},
                    {"targets", split(manifest.value("target", "cpu"))},
                    {"archs", split(manifest.value("arch", ""))}};
  for (const char *name :
       {"train", "param_groups", "inputs", "freeze", "precision", "assume_dropout_training",
        "assume_batchnorm_training", "running_variance", "loss_only", "loss_scale",
        "average_weights", "accumulate_gradients", "data_parallel", "sync_batch_norm",
        "memory_budget", "library_attention"})
    if (manifest.contains(name))
      meta[name] = manifest[name];
  if (manifest.contains("accepted_damage"))
    meta["accept_damaged_export"] = true;
  if (holdsHalf(model))
    meta["half"] = true;
  meta["library"] = describeForDiff(options.library);
  return meta;
}

static int recordGoldens(const RecordOptions &options) {
  checkOutput(options.output);
  Model model = Model::load(options.library);
  checkStepOptions(model.entries(), options.run);
  Session session(model, options.run.settings());
  fillWeights(session, options.params);
  const TensorMap variables = variablesOf(session);
  TensorMap inputs, initial;
  std::string_view sizes;
  if (options.inputs.empty()) {
    sizes = chooseSizes(model, options.sizes);
    inputs = randomInputsAt(model, sizes);
  } else {
    inputs = load_safetensors(options.inputs);
    sizes = session.choose(model.entries().front().name, inputs).sizes;
  }
  for (const auto &[name, value] : variables)
    if (model.find_variable(name)->role != ACCC_OPTIMIZER_STATE)
      initial.emplace(name, value);

  TrajectoryOptions run{.steps = options.run.steps};
  for (const accc_entry &entry : model.entries())
    if (entry.sizes == sizes && !updatesAlone(entry.name))
      run.entries.insert(entry.name);
  const Trajectory trajectory = record(session, inputs, run);
  TensorMap goldens = toGoldens(model, trajectory);
  checkFinite(goldens);

  auto named = [&](const Trajectory &each) { return toGoldens(model, each); };
  const Noise noise = measureNoise(session, variables, inputs, run, trajectory, named);

  fs::path name = fs::path(options.output).lexically_normal();
  if (!name.has_filename())
    name = name.parent_path();
  name = follow_links(name.string()); // a link stays one
  ScratchFolder folder(name.string() + ".tmp-");
  save_safetensors(folder.path() / kInputsFile, inputs);
  save_safetensors(folder.path() / kInitialFile, initial);
  save_safetensors(folder.path() / kGoldenFile, goldens);
  ordered_json meta = describeRun(session, options, sizes);
  meta["noise"] = noise;
  meta["updates"] = updatesOf(trajectory, "param.");
  if (std::string problem = writeTextFile(folder.path() / kMetaFile, toText(meta) + "\n");
      !problem.empty())
    throw Error(ErrorKind::machine, problem);
  folder.publish(name);

  if (options.json)
    std::cout << toText({{"folder", options.output},
                         {"sizes", sizes},
                         {"steps", options.run.steps},
                         {"seed", session.seed()},
                         {"learning_rate", session.learning_rate()},
                         {"tensors", goldens.size()}})
              << "\n";
  else
    std::cout << options.output << ": " << goldens.size() << " tensors after " << options.run.steps
              << " steps; accc diff LIB " << options.output << " compares a library with them\n";
  return 0;
}

void accc::tool::addGolden(CLI::App &app, Action &action) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App *command =
      app.add_subcommand("golden", "Record the results of a library as goldens for accc diff");
  command->add_option("LIB", options->library, "The library")->required()->check(CLI::ExistingFile);
  command
      ->add_option("-o,--output", options->output,
                   "Folder to write: batch, weights, outputs, losses, gradients, and all variables "
                   "after the steps. Replaces goldens that this command wrote")
      ->type_name("DIR")
      ->required();
  CLI::Option *inputs = command
                            ->add_option("--inputs", options->inputs,
                                         "The batch; default: random floats, integers 0 or 1")
                            ->type_name("IN.safetensors")
                            ->check(CLI::ExistingFile);
  command
      ->add_option("--params", options->params,
                   "Initial parameters and buffers; default: those of the library, or random")
      ->type_name("P.safetensors")
      ->check(CLI::ExistingFile);
  command
      ->add_option(
          "-D", options->sizes,
          "Size to record, for a library with several; default: that of --inputs, or the first")
      ->type_name("DIM=N")
      ->allow_extra_args(false)
      ->excludes(inputs);
  addStepOptions(*command, options->run);
  command->add_flag("--json", options->json, "Print a summary as JSON");
  command->callback([options, &action] { action = [options] { return recordGoldens(*options); }; });
}
