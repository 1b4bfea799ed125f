// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options that say what to compile and how.
#include "Command.h"

#include "driver/TrainingSteps.h"

#include <cctype>

using namespace accc;
using namespace accc::tool;

/// DIM=N[,N...]
static void addDimension(CompileOptions &options, const std::string &text) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  if (equals == std::string::npos || name.empty())
    throw CLI::ValidationError("-D", "needs DIM=N, as in -D batch=32, not " + text);
  std::vector<int64_t> sizes;
  for (const std::string &part : splitList("-D", text.substr(equals + 1))) {
    std::optional<int64_t> size = toWholeNumber(part);
    if (!size || *size < 1)
      throw CLI::ValidationError("-D", "needs a positive number, not '" + part + "' in " + text);
    sizes.push_back(*size);
  }
  std::vector<int64_t> &all = options.dimensions[name];
  all.insert(all.end(), sizes.begin(), sizes.end());
}

/// "a, b or c"
static std::string alternatives(const std::vector<std::string> &names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

/// What is trained, and how.
static void addTrainingOptions(CLI::App &command, CompileOptions &options) {
  command
      .add_option(
          "--loss", options.losses,
          "Loss: " + alternatives(knownLosses()) +
              " of the first output (or "
              "=OUTPUT) and an input `target`, or output:NAME for the model's own; none for "
              "a joint graph or an ONNX model with a training_info, which hold theirs. Of "
              "several each makes a training step of its own, which is named: d=output:d_loss")
      ->type_name("[STEP=]LOSS")
      ->allow_extra_args(false);
  command
      .add_option("--optimizer", options.optimizers,
                  "Optimizer: " + alternatives(knownOptimizers()) +
                      " with options, as in "
                      "sgd,momentum=0.9,nesterov; of "
                      "one step with its name: d=adam,beta1=0.5")
      ->type_name("[STEP=]OPTIMIZER")
      ->allow_extra_args(false);
  command
      .add_option("--param-group", options.parameterGroups,
                  "Update parameters whose name matches anywhere with these options in place of "
                  "--optimizer's, as in '\\.bias$' weight_decay=0, or with an optimizer of their "
                  "own; the first group that matches decides")
      ->type_name("REGEX OPTIONS")
      ->allow_extra_args(false);
  command
      .add_option("--train", options.train,
                  "Train only parameters whose name matches anywhere; those of one step: d=REGEX")
      ->type_name("[STEP=]REGEX")
      ->allow_extra_args(false);
  command
      .add_option("--freeze", options.freeze, "Do not train parameters whose name matches anywhere")
      ->type_name("REGEX")
      ->allow_extra_args(false);
  command.add_flag("--loss-only", options.lossOnly,
                   "Steps that train return the loss and no outputs of the model, for which they "
                   "then need no memory; eval_step returns all");
  command
      .add_option("--average-weights", options.averages,
                  "Keep an exponential moving average of the trained parameters, ema,decay=0.999, "
                  "and add average_eval_step, which evaluates it; of one step with its name: "
                  "g=ema,decay=0.99")
      ->type_name("[STEP=]AVERAGE")
      ->allow_extra_args(false);
  command.add_flag("--accumulate-gradients", options.accumulateGradients,
                   "Add accumulate_step, which adds the gradients of a batch to those of others, "
                   "and update_step, which updates by their mean");
  command.add_flag("--data-parallel", options.dataParallel,
                   "Several processes train the model together, each on rows of its own: the steps "
                   "average their gradients (accc/group.h)");
  command.add_flag("--sync-batch-norm", options.syncBatchNorm,
                   "With --data-parallel: in training, batch norms take their statistics over the "
                   "rows of all processes, as PyTorch's SyncBatchNorm");
}

void accc::tool::addLibraryAttention(CLI::App &command, std::optional<bool> &which) {
  CLI::Option *all = command.add_flag_callback(
      "--library-attention", [&which] { which = true; },
      "Run attentions of 16-bit floats whole, by cuDNN (cuda only), also those with a mask of "
      "padding; by default those without a mask, or with a causal one");
  command
      .add_flag_callback(
          "--no-library-attention", [&which] { which = false; },
          "Run attentions as products and a softmax, whatever the library could do")
      ->excludes(all);
}

void accc::tool::addCompileOptions(CLI::App &command, CompileOptions &options) {
  command
      .add_option("MODEL", options.model,
                  "The model: an ONNX file, a program of torch.export.save (.pt2), or a "
                  "TorchScript module of torch.jit.save (.pt)")
      ->required();
  addTrainingOptions(command, options);
  addList(command, "--target", options.targets,
          "Targets to compile for: cpu, cuda, or both (cuda,cpu) in one library, of which "
          "the best available one is chosen at load time")
      ->type_name("A[,B]")
      ->default_str("cpu");
  addList(command, "--arch", options.archs,
          "Architectures. cpu: native or an LLVM CPU name (default: x86-64-v3); cuda: "
          "sm_80, ... for machine code, compute_80, ... for PTX (default: sm_80,sm_90). "
          "With several, the best supported one is chosen at load time")
      ->type_name("A[,B]");
  command
      .add_option(
          "--precision", options.precision,
          "Precision of f32 matrix products and convolutions: fp32; tf32 (cuda only), which "
          "rounds factors to 11 bits of significand and uses tensor cores; or bf16 or fp16 (mixed "
          "precision), which store what they read and give in bfloat16 or float16, and compute all "
          "else, parameters and optimizer included, in f32")
      ->capture_default_str();
  command
      .add_option(
          "--loss-scale", options.lossScale,
          "Multiply the loss before the backward pass, so that float16 holds small gradients, "
          "and divide the gradients again; a step with a gradient that is not finite changes "
          "nothing but the scale. dynamic, as torch.amp.GradScaler "
          "(init_scale=65536,growth_factor=2,backoff_factor=0.5,growth_interval=2000); "
          "fixed=S; or none (default: dynamic with --precision fp16, else none)")
      ->type_name("SPEC");
  addLibraryAttention(command, options.libraryAttention);
  command
      .add_option_function<std::vector<std::string>>(
          "-D",
          [&options](const std::vector<std::string> &values) {
            for (const std::string &value : values)
              addDimension(options, value);
          },
          "Set the size of a dynamic dimension. With several sizes (all combinations with those of "
          "other dimensions) the library holds each, with one set of parameters")
      ->type_name("DIM=N[,N...]")
      ->allow_extra_args(false);
  command
      .add_option_function<std::vector<std::string>>(
          "--input",
          [&options](const std::vector<std::string> &values) {
            for (const std::string &value : values)
              addInput(options, value);
          },
          "Give the element type and the shape of an input, which TorchScript files leave out, as "
          "in x=float32[batch,16]. Names are dynamic dimensions")
      ->type_name("NAME=TYPE[SIZE,...]")
      ->allow_extra_args(false);
  addCustomOps(command, options.customOps);
  command.add_flag("--assume-dropout-training", options.assumeDropoutTraining,
                   "Treat dropouts that an ONNX file has without a training flag as active");
  command.add_flag(
      "--assume-batchnorm-training", options.assumeBatchNormTraining,
      "Treat batch normalisations that an ONNX file has in inference mode as training: "
      "use batch statistics and update the running ones");
  command.add_flag("--accept-damaged-export", options.acceptDamagedExport,
                   "Train a model although its export lost or changed some of its parameters");
  command.add_option("--running-variance", options.runningVariance,
                     "Running variance of an ONNX file's batch normalisations: biased (ONNX) or "
                     "unbiased (PyTorch); by default that of the exporting framework");
}

void accc::tool::addOutputOptions(CLI::App &command, CompileOptions &options) {
  command.add_option("-o,--output", options.output, "Library to write")->type_name("LIB.so");
  static const std::map<std::string, double> units = {
      {"B", 1},        {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9},    {"TB", 1e12},
      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  command
      .add_option_function<double>(
          "--memory-budget",
          [&options](double bytes) { options.memoryBudget = static_cast<int64_t>(bytes); },
          "Memory that an entry point may take, as in 8GB or 512MiB: variables, inputs, outputs "
          "and scratch. What does not fit is computed again instead of kept")
      ->type_name("SIZE")
      ->transform(CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::UNIT_OPTIONAL))
      ->check(CLI::Range(1.0, 1e15));
  command.add_option("--weights", options.weights,
                     "Where initial weights go: embed (into the library), beside (a file "
                     "LIB.so.safetensors) or none; default: embed up to 16 MB, else beside");
  command.add_option("--header", options.header, "Write a typed C++ header")->type_name("LIB.h");
  command
      .add_option("--report", options.report,
                  "Write a report as JSON: kernels, FLOPs, bytes, memory, compile times")
      ->type_name("LIB.json");
  command.add_option("--dump-dir", options.dumpDir, "Write the IR after every phase")
      ->type_name("DIR");
  command.add_option("--stop-after", options.stopAfter, "Print the IR after this phase and stop")
      ->type_name("PHASE");
}
