// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc run LIB --entry ENTRY --inputs IN.safetensors
#include "Command.h"
#include "Json.h"

#include <cmath>
#include <iostream>
#include <memory>
#include <optional>

using namespace accc;
using namespace accc::tool;

namespace {
struct RunOptions {
  std::string library, entry = "train_step", inputs, params, outputs, saveParams;
  int64_t steps = 1, seed = 0;
  std::optional<float> learningRate;
  int threads = 0;
  bool json = false, allowNonfinite = false;
};
} // namespace

/// A loss that is not finite is null.
static void printJson(const Result &result, const Session &session,
                      const std::vector<float> &losses) {
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
  std::cout << toText(json) << "\n";
}

/// Training that diverged goes nowhere: nobody should take its parameters for trained ones.
static void checkLoss(const std::vector<float> &losses) {
  if (std::isfinite(losses.back()))
    return;
  throw Error(ErrorKind::data, "the loss of step " + std::to_string(losses.size() - 1) + " is " +
                                   std::to_string(losses.back()) +
                                   "; nothing was written. Look at the inputs and the learning "
                                   "rate (--lr), or go on with --allow-nonfinite");
}

static int run(const RunOptions &options) {
  keepApart({options.outputs, options.saveParams},
            {options.library, options.inputs, options.params});
  Model model = Model::load(options.library);
  SessionOptions settings;
  settings.learning_rate = options.learningRate.value_or(manifestLearningRate(model));
  settings.seed = options.seed;
  settings.threads = options.threads;
  Session session(model, settings);
  if (!options.params.empty())
    session.load(options.params);
  TensorMap inputs;
  if (!options.inputs.empty())
    inputs = load_safetensors(options.inputs);

  std::optional<Result> result;
  std::vector<float> losses;
  for (int64_t step = 0; step < options.steps; ++step) {
    result = session.run(options.entry, inputs);
    result->wait();
    if (!result->has_loss())
      continue;
    losses.push_back(result->loss());
    if (!options.json)
      std::printf("step %lld loss %.9g\n", static_cast<long long>(step), losses.back());
    if (!std::isfinite(losses.back()) && !options.allowNonfinite)
      break;
  }
  if (options.json)
    printJson(*result, session, losses);
  if (!losses.empty() && !options.allowNonfinite)
    checkLoss(losses);
  if (!options.outputs.empty()) {
    TensorMap outputs = result->tensors();
    if (options.steps > 1 && !losses.empty())
      outputs.insert_or_assign("losses", Tensor::of<float>({static_cast<int64_t>(losses.size())},
                                                           std::span<const float>(losses)));
    save_safetensors(options.outputs, outputs);
  }
  if (!options.saveParams.empty())
    session.save(options.saveParams);
  return 0;
}

void accc::tool::addRun(CLI::App &app, Action &action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command = app.add_subcommand("run", "runs an entry point of a library");
  command->add_option("LIB", options->library, "the library")->required();
  command->add_option("--entry", options->entry, "train_step, grad_step, apply_step or eval_step")
      ->capture_default_str();
  command->add_option("--inputs", options->inputs, "the inputs, and `target`, by name")
      ->type_name("IN.safetensors");
  command->add_option("--params", options->params, "parameters and buffers to start from")
      ->type_name("P.safetensors");
  command->add_option("--steps", options->steps, "number of steps")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of dropout and other random ops")
      ->capture_default_str();
  command
      ->add_option("--lr", options->learningRate, "the learning rate; by default the optimizer's")
      ->check(finiteNumber());
  command->add_option("--threads", options->threads, "0 = the default of OpenMP")
      ->check(CLI::Range(0, kMostThreads))
      ->capture_default_str();
  command
      ->add_option("--outputs", options->outputs,
                   "writes the last step's outputs, loss and gradients, and `losses` of all steps")
      ->type_name("OUT.safetensors");
  command->add_option("--save-params", options->saveParams, "writes parameters and buffers")
      ->type_name("P2.safetensors");
  command->add_flag("--allow-nonfinite", options->allowNonfinite,
                    "goes on where the loss is infinite or no number; by default that ends the "
                    "run with exit code 1, and nothing is written");
  command->add_flag("--json", options->json, "prints the losses, and what ran, as JSON");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}
