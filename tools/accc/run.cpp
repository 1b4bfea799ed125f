// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc run LIB --entry ENTRY --inputs IN.safetensors
#include "Command.h"
#include "Json.h"
#include "Print.h"
#include "driver/HeldSignals.h"
#include "support/Log.h"

#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

using namespace accc;
using namespace accc::tool;

namespace {
struct RunOptions {
  std::string library, entry = "train_step", inputs, params, outputs, saveParams;
  StepOptions run;
  int threads = 0;
  bool json = false, allowNonfinite = false;
};
} // namespace

/// A loss that is not finite is null; `failure` is why the run ends with an error, if it does.
static void printJson(const Result &result, const Session &session,
                      const std::vector<double> &losses, const std::string &failure) {
  const accc_entry &entry = result.entry();
  nlohmann::ordered_json json{{"library", session.model().path()},
                              {"entry", entry.name},
                              {"sizes", entry.sizes},
                              {"target", session.model().code().target},
                              {"arch", session.model().code().arch},
                              {"threads", session.threads()},
                              {"learning_rate", session.learning_rate()},
                              {"seed", session.seed()},
                              {"losses", losses}};
  if (!failure.empty())
    json.update(toJson(ErrorKind::data, failure));
  std::cout << toText(json) << "\n";
}

/// Why training goes nowhere, so that nobody should take its parameters for trained ones; empty
/// where it does not diverge.
static std::string whyDiverged(const std::vector<double> &losses) {
  if (losses.empty() || std::isfinite(losses.back()))
    return "";
  return "the loss of step " + std::to_string(losses.size() - 1) + " is " +
         std::to_string(losses.back()) +
         "; nothing was written. Look at the inputs and the learning rate (--lr), or go on with "
         "--allow-nonfinite";
}

/// Throws Error (usage) where the model's own output would have the place of all losses.
static void checkLosses(const accc_entry &entry, const RunOptions &options) {
  if (options.outputs.empty() || options.run.steps == 1)
    return;
  for (const accc_value &output : std::span(entry.outputs, static_cast<size_t>(entry.num_outputs)))
    if (output.tensor.name == std::string_view("losses"))
      throw Error(ErrorKind::usage,
                  std::string("--outputs: of several steps it holds all `losses`, and ") +
                      entry.name +
                      " has an output of this name: run one step, or rename it in the model");
}

static int run(const RunOptions &options) {
  std::vector<std::string> read = filesOf(options.library);
  read.insert(read.end(), {options.inputs, options.params});
  keepApart({options.outputs, options.saveParams}, read);
  checkWritable({options.outputs, options.saveParams}); // before hours of training
  Model model = Model::load(options.library);
  checkEntry(model, options.entry);
  checkStepOptions({&model.entry(options.entry), 1}, options.run);
  checkLosses(model.entry(options.entry), options);
  SessionOptions settings = options.run.settings();
  settings.threads = options.threads;
  Session session(model, settings);
  if (!options.params.empty())
    session.load(options.params);
  TensorMap inputs;
  if (!options.inputs.empty())
    inputs = load_safetensors(options.inputs);

  std::optional<Result> result;
  std::vector<double> losses;
  DType lossType{};
  for (int64_t step = 0; step < options.run.steps; ++step) {
    result = session.run(options.entry, inputs);
    result->wait();
    if (!result->has_loss())
      continue;
    losses.push_back(result->loss());
    lossType = (*result)["loss"].dtype();
    if (!options.json)
      print("step %lld loss %.*g\n", static_cast<long long>(step),
            lossType == DType::f64 ? std::numeric_limits<double>::max_digits10
                                   : std::numeric_limits<float>::max_digits10,
            losses.back());
    if (!std::isfinite(losses.back()) && !options.allowNonfinite)
      break;
  }
  const std::string failure = options.allowNonfinite ? "" : whyDiverged(losses);
  if (options.json)
    printJson(*result, session, losses, failure);
  if (!failure.empty()) {
    log(LogLevel::Error, failure);
    return static_cast<int>(ExitCode::Data);
  }
  HeldSignals held; // all files are written, or none
  if (!options.outputs.empty()) {
    TensorMap outputs = result->tensors();
    if (options.run.steps > 1 && !losses.empty())
      outputs.insert_or_assign("losses", Tensor::of<double>({static_cast<int64_t>(losses.size())},
                                                            std::span<const double>(losses))
                                             .to(lossType));
    save_safetensors(options.outputs, outputs);
  }
  if (!options.saveParams.empty())
    session.save(options.saveParams);
  return 0;
}

void accc::tool::addRun(CLI::App &app, Action &action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "Run an entry point of a library");
  command->add_option("LIB", options->library, "The library")->required();
  command
      ->add_option("--entry", options->entry,
                   "Entry point: train_step, grad_step, apply_step, eval_step, accumulate_step, "
                   "update_step or average_eval_step")
      ->capture_default_str();
  command->add_option("--inputs", options->inputs, "Inputs by name, including `target`")
      ->type_name("IN.safetensors");
  command->add_option("--params", options->params, "Initial parameters and buffers")
      ->type_name("P.safetensors");
  addStepOptions(*command, options->run);
  command->add_option("--threads", options->threads, "Number of threads; 0 = OpenMP's default")
      ->check(wholeNumber(0, kMostThreads))
      ->capture_default_str();
  command
      ->add_option(
          "--outputs", options->outputs,
          "Write outputs, loss and gradients of the last step, and of several steps all `losses`")
      ->type_name("OUT.safetensors");
  command
      ->add_option("--save-params", options->saveParams,
                   "Write parameters and buffers after the last step")
      ->type_name("P2.safetensors");
  command->add_flag("--allow-nonfinite", options->allowNonfinite,
                    "Continue if the loss becomes infinite or NaN; by default the run then ends "
                    "with exit code 1 and writes nothing");
  command->add_flag("--json", options->json, "Print losses and the entry point as JSON");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}
