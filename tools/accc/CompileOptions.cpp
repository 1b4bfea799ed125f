// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options that say what to compile and how.
#include "Command.h"

using namespace accc;
using namespace accc::tool;

/// DIM=N[,N...]
static void addDimension(CompileOptions &options, const std::string &text) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  if (equals == std::string::npos || name.empty())
    throw CLI::ValidationError("-D", "needs DIM=N, as in -D batch=32, not " + text);
  std::vector<int64_t> sizes;
  for (const std::string &part : CLI::detail::split(text.substr(equals + 1), ',')) {
    int64_t size = 0;
    if (!CLI::detail::lexical_cast(part, size) || size < 1)
      throw CLI::ValidationError("-D", "needs a positive number, not '" + part + "' in " + text);
    sizes.push_back(size);
  }
  std::vector<int64_t> &all = options.dimensions[name];
  all.insert(all.end(), sizes.begin(), sizes.end());
}

void accc::tool::addCompileOptions(CLI::App &command, CompileOptions &options) {
  command.add_option("MODEL", options.model, "the model: an ONNX file")->required();
  command.add_option("--loss", options.loss,
                     "cross_entropy, nll, mse, l1 or bce_with_logits of the first output (or "
                     "=OUTPUT) and an input `target`, or output:NAME");
  command.add_option("--optimizer", options.optimizer,
                     "sgd, adam or adamw with options, as in sgd,momentum=0.9,nesterov");
  command
      .add_option(
          "--target", options.targets,
          "the machines to compile for: cpu, cuda, or both (cuda,cpu) in one library, which "
          "takes the best that is there when it is loaded")
      ->type_name("A[,B]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("cpu");
  command
      .add_option(
          "--arch", options.archs,
          "for cpu: native, or a CPU as LLVM names it (default: x86-64-v3); for cuda: sm_80, ... "
          "for "
          "machine code, compute_80, ... for PTX (default: sm_80,sm_90); with several, the best "
          "supported one is chosen at load time")
      ->type_name("A[,B]")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--precision", options.precision,
                  "fp32, or tf32 (cuda only): matrix products and convolutions of f32 may round "
                  "their factors to 11 bits of significand, which tensor cores multiply faster")
      ->capture_default_str();
  command
      .add_option_function<std::vector<std::string>>(
          "-D",
          [&options](const std::vector<std::string> &values) {
            for (const std::string &value : values)
              addDimension(options, value);
          },
          "fixes a dimension that the exporter left open; several sizes, with those of other "
          "dimensions all combinations, share one set of parameters in the library")
      ->type_name("DIM=N[,N...]")
      ->allow_extra_args(false);
  command
      .add_option("--freeze", options.freeze, "parameters with this in their name are not trained")
      ->type_name("REGEX")
      ->allow_extra_args(false);
  command.add_flag("--assume-dropout-training", options.assumeDropoutTraining,
                   "dropouts that were exported without their training flag drop");
  command.add_flag("--assume-batchnorm-training", options.assumeBatchNormTraining,
                   "batch normalisations that were exported in inference mode use and update "
                   "statistics of the batch");
  command.add_flag("--accept-damaged-export", options.acceptDamagedExport,
                   "trains a model whose export lost or changed some of its parameters");
  command.add_option("--running-variance", options.runningVariance,
                     "biased (as ONNX says) or unbiased (as PyTorch does): the variance that batch "
                     "normalisations keep; by default as the program that wrote the model does");
}
