// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/CheckNames.h"

#include "llvm/Support/JSON.h"

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
    requireWritable(name, role);
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
  /// A library holds names as C does, and files of tensors have a name of their own.
  void requireWritable(StringRef name, Role role) {
    if (!addedFor(role).empty())
      return; // named after one of the model's
    bool isSaved = role == Role::Parameter || role == Role::Buffer;
    StringRef why;
    if (name.contains('\0'))
      why = "has a NUL in its name";
    else if (isSaved && name == "__metadata__")
      why = "has a name that safetensors files keep for something else";
    else if (isSaved && !llvm::json::isUTF8(name))
      why = "has a name that is not UTF-8, which safetensors files cannot hold";
    else
      return;
    good = false;
    emitError(loc) << "the model's " << stringifyRole(role) << " '" << name << "' " << why
                   << ": rename it in the model";
  }

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
