// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/CheckNames.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace accc;

namespace {
/// What a value is that training adds; empty for those of the model.
StringRef addedFor(StringRef roleName) {
  return llvm::StringSwitch<StringRef>(roleName)
      .Case(role::kTarget, "what the loss compares with")
      .Case(role::kLearningRate, "the learning rate")
      .Case(role::kSeed, "the seed of random numbers")
      .Case(role::kStep, "the number of the step, for random numbers")
      .Case(role::kOptimizerState, "state of the optimizer")
      .Case(role::kLoss, "the loss")
      .Case(role::kGradient, "the gradient of a parameter")
      .Default("");
}

/// The names of one kind, arguments or results, and whose they are.
class Names {
public:
  explicit Names(Location loc) : loc(loc) {}

  void add(StringRef name, StringRef roleName) {
    auto [first, isNew] = roles.try_emplace(name, roleName);
    if (isNew)
      return;
    good = false;
    StringRef model = first->second, ours = roleName;
    if (!addedFor(model).empty())
      std::swap(model, ours);
    if (addedFor(ours).empty())
      emitError(loc) << "the model has two values named '" << name << "', of the roles " << model
                     << " and " << ours << ": rename one of them";
    else
      emitError(loc) << "the model's " << model << " '" << name
                     << "' has the name that accc gives to " << addedFor(ours)
                     << ": rename it in the model";
  }

  LogicalResult result() const { return success(good); }

private:
  Location loc;
  llvm::StringMap<StringRef> roles;
  bool good = true;
};
} // namespace

LogicalResult accc::checkNames(StepFunction step) {
  Location loc = UnknownLoc::get(step.get().getContext()); // a problem of the model as a whole
  Names arguments(loc), results(loc);
  for (unsigned i = 0, e = step.get().getNumArguments(); i < e; ++i)
    arguments.add(step.argumentName(i), step.argumentRole(i));
  for (unsigned i = 0, e = step.numResults(); i < e; ++i)
    if (step.resultRole(i) != role::kUpdate)
      results.add(step.resultName(i), step.resultRole(i));
  return success(succeeded(arguments.result()) && succeeded(results.result()));
}
