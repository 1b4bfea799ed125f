// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/TrainedParameters.h"

#include "support/Fault.h"

using namespace mlir;
using namespace accc;

namespace {
/// What an expression finds among the arguments of a step.
struct Found {
  SmallVector<unsigned> parameters;
  std::string buffer; ///< one that has such a name
};
} // namespace

static Found find(StepFunction forward, const NamePattern &pattern, const OtherNames &otherNames) {
  Found found;
  for (unsigned i = 0, e = forward.get().getNumArguments(); i < e; ++i) {
    if (!pattern.matches(forward.argumentName(i), otherNames))
      continue;
    if (forward.argumentRole(i) == Role::Parameter)
      found.parameters.push_back(i);
    else if (forward.argumentRole(i) == Role::Buffer)
      found.buffer = forward.argumentName(i).str();
  }
  return found;
}

LogicalResult accc::chooseTrained(StepFunction forward, const TrainingOptions &options) {
  Location loc = wholeModel(forward);
  bool good = true;
  auto forEach = [&](StringRef option, ArrayRef<std::string> texts, auto use) {
    for (const std::string &text : texts) {
      llvm::Expected<NamePattern> pattern = NamePattern::parse(option, text);
      if (pattern) {
        use(*pattern, find(forward, *pattern, options.otherNames));
        continue;
      }
      emitUsageFault(loc) << llvm::toString(pattern.takeError());
      good = false;
    }
  };

  SmallVector<unsigned> frozen;
  forEach("--freeze", options.freeze, [&](const NamePattern &pattern, const Found &found) {
    llvm::append_range(frozen, found.parameters);
    if (found.parameters.empty() && found.buffer.empty()) // it may have become a constant
      emitWarning(loc) << pattern.getText() << ": no parameter has such a name";
    else if (found.parameters.empty())
      emitRemark(loc) << pattern.getText() << ": '" << found.buffer
                      << "' is a buffer, and not trained in any case";
  });

  llvm::BitVector trained(forward.get().getNumArguments());
  forEach("--train", options.train, [&](const NamePattern &pattern, const Found &found) {
    for (unsigned i : found.parameters) {
      trained.set(i);
      forward.get().removeArgAttr(i, kUnclearAttr); // it is asked for
      forward.get().removeArgAttr(i, kAssumedAttr);
    }
    if (!found.parameters.empty())
      return;
    good = false;
    InFlightDiagnostic error = emitUsageFault(loc);
    error << pattern.getText() << ": no parameter has such a name";
    if (!found.buffer.empty())
      error << "; '" << found.buffer << "' is a buffer, which no optimizer updates";
  });
  if (!options.train.empty())
    for (unsigned i : forward.argumentsOf(Role::Parameter))
      if (!trained[i])
        frozen.push_back(i);
  forward.freeze(frozen);
  return success(good);
}
