// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/ImportError.h"
#include "frontend/onnx/GraphImporter.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;

/// Tells what became of the module's state, and refuses what is lost where it is to be trained.
void GraphImporter::reportState(ImportResult &result) {
  Recovery &recovery = state.recovery;
  result.recovered = recovery.parameters;
  aliases = recovery.aliases;
  if (state.exported)
    for (const auto &entry : *state.exported)
      if (!entry.second.aliases.empty())
        aliases[entry.first().str()] = entry.second.aliases;
  if (importOptions.training)
    for (const std::string &warning : recovery.warnings)
      warn(warning);
  result.damage = recovery.damage.summary();
  if (importOptions.training && !importOptions.acceptDamage && !recovery.damage.empty())
    problems.push_back({"", "", recovery.damage.message(Evidence(*model).exporter())});
  reportUnusedOptions();
}

// ---- What the options say ----

bool GraphImporter::assumesDropoutTraining() {
  asked.dropoutTraining = true;
  return importOptions.assumeDropoutTraining;
}

bool GraphImporter::assumesBatchNormTraining() {
  asked.batchNormTraining = true;
  return importOptions.assumeBatchNormTraining;
}

std::optional<bool> GraphImporter::unbiasedRunningVar() {
  asked.runningVariance = true;
  return importOptions.unbiasedRunningVar;
}

void GraphImporter::reportUnusedOptions() {
  if (!problems.empty())
    return; // the model was not read to its end
  const char *untrained = training ? "the model holds its own training step (training_info)"
                                   : "it is about training, and there is no --loss";
  auto report = [&](bool given, bool isUsed, const std::string &option, const char *missing) {
    if (given && !isUsed)
      problems.push_back({.message = option + ": " + (importOptions.training ? missing : untrained),
                          .fault = Fault::Usage});
  };
  report(importOptions.assumeDropoutTraining, asked.dropoutTraining, "--assume-dropout-training",
         "the file has no dropout that leaves open whether it drops");
  report(importOptions.assumeBatchNormTraining, asked.batchNormTraining,
         "--assume-batchnorm-training", "the file has no batch normalisation in inference mode");
  report(importOptions.unbiasedRunningVar.has_value(), asked.runningVariance, "--running-variance",
         "the file has no batch normalisation that trains");
  report(importOptions.acceptDamage, importOptions.training && !state.recovery.damage.empty(),
         "--accept-damaged-export", "no damage to this export was found");
}
