// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/ReadModel.h"

#include "driver/Boundaries.h"
#include "driver/InitialValues.h"
#include "driver/Outputs.h"
#include "driver/SharedVariables.h"
#include "driver/TrainingSteps.h"
#include "frontend/onnx/Import.h"
#include "frontend/torchexport/Import.h"
#include "frontend/torchscript/Import.h"
#include "training/loss/Loss.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace accc;

/// Of a model that could not be imported: whether it has the output that --loss names.
static void checkLossOutput(Compilation &c, const std::vector<std::string> &outputs) {
  if (outputs.empty())
    return;
  for (const TrainingOptions &step : llvm::cantFail(readTrainingSteps(c.options))) {
    if (step.loss.empty())
      continue;
    llvm::Expected<LossChoice> loss = parseLoss(step.loss);
    if (!loss)
      llvm::consumeError(loss.takeError()); // known from checkOptions
    else if (!loss->output.empty() && !llvm::is_contained(outputs, loss->output))
      c.problems.add({.message = unknownOutput(loss->output, outputs), .fault = Fault::Usage});
  }
}

/// What only files of one format leave open, and others say themselves. True if the options say it,
/// too.
static bool refuseWhatTheFileSays(Compilation &c, bool isScript, bool isOnnx) {
  bool good = true;
  auto refuse = [&](const std::string &option, const char *what, const char *format) {
    good = false;
    c.problems.add({.message = option + ": the file says " + what + "; the option is for " + format,
                    .fault = Fault::Usage});
  };
  if (!isScript)
    for (const auto &[name, type] : c.options.inputs)
      refuse("--input " + name, "what its inputs are", "TorchScript");
  if (!isOnnx) {
    if (c.options.assumeDropoutTraining)
      refuse("--assume-dropout-training", "which of its dropouts drop", "ONNX");
    if (c.options.assumeBatchNormTraining)
      refuse("--assume-batchnorm-training", "in which mode its batch norms are", "ONNX");
    if (!c.options.runningVariance.empty())
      refuse("--running-variance", "which variance its batch norms keep", "ONNX");
    if (c.options.acceptDamagedExport)
      refuse("--accept-damaged-export", "which parameters it has", "ONNX");
  }
  return !good;
}

LogicalResult accc::readModel(Compilation &c) {
  const std::string &path = c.options.model;
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file) {
    c.problems.add({.message = path + ": " + file.getError().message(), .fault = Fault::Machine});
    return failure();
  }
  // Once: each of several sizes imports the model again.
  auto hash = [&](std::vector<std::string> dataFiles) {
    if (!c.options.output.empty() && !c.inputHashes.valid())
      c.inputHashes = hashInputs(path, std::move(dataFiles));
  };

  if (llvm::sys::path::extension(path) == ".mlir") {
    for (const auto &[name, size] : c.sizes.dimensions)
      c.problems.add(
          {.message = "-D " + name + ": the shapes of IR text are fixed", .fault = Fault::Usage});
    if (!c.sizes.dimensions.empty() ||
        refuseWhatTheFileSays(c, /*isScript=*/false, /*isOnnx=*/false))
      return failure();
    hash({});
    c.module = readModelText((*file)->getBuffer(), path, c.context);
    return success(c.module && succeeded(shareVariables(c, {})));
  }

  bool isArchive = (*file)->getBuffer().starts_with("PK\x03\x04");
  bool isScript = isArchive && isTorchScript(path);
  ImportOptions options;
  for (const auto &[name, type] : c.options.inputs)
    options.inputTypes[name] = {type.elementType, type.dimensions, type.position};
  options.training = !c.options.losses.empty();
  for (const auto &[name, size] : c.sizes.dimensions)
    options.dimensions[name] = size;
  options.assumeDropoutTraining = c.options.assumeDropoutTraining;
  options.assumeBatchNormTraining = c.options.assumeBatchNormTraining;
  options.acceptDamage = c.options.acceptDamagedExport;
  if (!c.options.runningVariance.empty())
    options.unbiasedRunningVar = c.options.runningVariance == "unbiased";
  if (c.options.openDimension)
    options.openDimension = c.options.openDimension;
  ImportResult result = isScript    ? importTorchScript(path, options, c.context)
                        : isArchive ? importTorchExport(path, options, c.context)
                                    : importOnnx(path, options, c.context);
  for (const Problem &remark : result.remarks)
    c.problems.add(remark);
  for (const Problem &problem : result.problems)
    c.problems.add(problem);
  // A damaged file says nothing: that it is damaged is all that is to be told of it.
  bool isRead = result.module || !result.outputs.empty();
  bool refused = isRead && refuseWhatTheFileSays(c, isScript, /*isOnnx=*/!isArchive);
  std::vector<std::string> overwritten = findOverwritten(c.options, result.dataFiles);
  for (const std::string &problem : overwritten)
    c.problems.add({.message = problem, .fault = Fault::Usage});
  hash(std::move(result.dataFiles));
  if (!result.module)
    checkLossOutput(c, result.outputs);
  if (result.initialization && !c.onlyInspected &&
      failed(computeInitialValues(*result.initialization, result.weights)))
    return failure();
  c.wrongSizes = std::move(result.wrongSizes);
  c.module = std::move(result.module);
  c.exported = {std::move(result.recovered), std::move(result.aliases), std::move(result.damage)};
  return success(!refused && overwritten.empty() && c.module &&
                 succeeded(shareVariables(c, std::move(result.weights))));
}
