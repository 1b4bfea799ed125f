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
}
