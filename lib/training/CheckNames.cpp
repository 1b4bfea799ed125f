// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/CheckNames.h"

using namespace mlir;
using namespace accc;

namespace {
/// What a value is that training adds; empty for those of the model.
StringRef addedFor(Role role) {
  switch (role) {
  case Role::Target:
    return "what the loss compares with";
  case Role::LearningRate:
    return "the learning rate";
  case Role::Seed:
    return "the seed of random numbers";
  case Role::Step:
    return "the number of the step, for random numbers";
  case Role::OptimizerState:
    return "state of the optimizer";
  case Role::Loss:
    return "the loss";
  case Role::Gradient:
    return "the gradient of a parameter";
  default:
    return "";
  }
}

/// The names of one kind, arguments or results, and whose they are.
class Names {
public:
  explicit Names(Location loc) : loc(loc) {}

  void add(StringRef name, Role role) {
    auto [first, isNew] = roles.try_emplace(name, role);
    if (isNew)
      return;
    good = false;
    Role model = first->second, ours = role;
    if (!addedFor(model).empty())
      std::swap(model, ours);
    if (addedFor(ours).empty())
      emitError(loc) << "the model has two values named '" << name << "', of the roles "
                     << stringifyRole(model) << " and " << stringifyRole(ours)
                     << ": rename one of them";
    else
      emitError(loc) << "the model's " << stringifyRole(model) << " '" << name
                     << "' has the name that accc gives to " << addedFor(ours)
                     << ": rename it in the model";
  }

  LogicalResult result() const { return success(good); }

private:
  Location loc;
  llvm::StringMap<Role> roles;
  bool good = true;
};
} // namespace

LogicalResult accc::checkNames(StepFunction step) {
  Location loc = UnknownLoc::get(step.get().getContext()); // a problem of the model as a whole
  Names arguments(loc), results(loc);
  for (unsigned i = 0, e = step.get().getNumArguments(); i < e; ++i)
    arguments.add(step.argumentName(i), *step.argumentRole(i));
  for (unsigned i = 0, e = step.numResults(); i < e; ++i)
    if (step.resultRole(i) != Role::Update)
      results.add(step.resultName(i), *step.resultRole(i));
  return success(succeeded(arguments.result()) && succeeded(results.result()));
}
