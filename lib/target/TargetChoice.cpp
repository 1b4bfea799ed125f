// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target/TargetChoice.h"

#include "support/Suggest.h"
#include "target/Target.h"
#include "target/cpu/CpuArch.h"
#include "target/cuda/CudaArch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace accc;

namespace {
struct KnownTarget {
  llvm::StringLiteral name;
  bool (*knows)(llvm::StringRef arch);
};
constexpr KnownTarget kTargets[] = {
#define ACCC_TARGET(target, factory, knows, ...) {#target, knows},
#include "target/Targets.def"
};
} // namespace

llvm::Error accc::unknownTarget(llvm::StringRef name) {
  std::vector<std::string> names;
  for (const KnownTarget &target : kTargets)
    names.push_back(target.name.str());
  std::string meant = name.str(); // gpu is closer to cpu than to cuda
#define ACCC_TARGET(...)
#define ACCC_TARGET_ALIAS(alias, target)                                                           \
  if (name == #alias)                                                                              \
    meant = #target;
#include "target/Targets.def"
  return llvm::createStringError("--target " + name + ": this accc compiles for " +
                                 llvm::join(names, ", ") + didYouMean(meant, names));
}

/// Where an arch is a machine of a target that was not asked for.
static llvm::Error checkAsked(llvm::ArrayRef<std::string> targets, llvm::StringRef arch) {
  const KnownTarget *owner = nullptr;
  for (const KnownTarget &target : kTargets)
    if (target.knows(arch)) {
      if (llvm::is_contained(targets, target.name))
        return llvm::Error::success();
      owner = &target;
    }
  if (!owner)
    return llvm::Error::success(); // nobody's
  return llvm::createStringError("--arch " + arch + " is a machine of --target " + owner->name +
                                 ", and --target is " + llvm::join(targets, ",") +
                                 ": give --target " + owner->name + ", or an --arch of " +
                                 llvm::join(targets, ","));
}

llvm::Expected<std::vector<TargetChoice>> accc::chooseTargets(llvm::ArrayRef<std::string> targets,
                                                              llvm::ArrayRef<std::string> archs) {
  for (const std::string &name : targets) {
    if (llvm::none_of(kTargets, [&](const KnownTarget &target) { return target.name == name; }))
      return unknownTarget(name);
    if (llvm::count(targets, name) > 1)
      return llvm::createStringError("--target names " + name + " twice");
  }
  for (const std::string &arch : archs)
    if (llvm::Error error = checkAsked(targets, arch))
      return std::move(error);
  std::vector<TargetChoice> choices;
  size_t taken = 0;
  for (const KnownTarget &target : kTargets) {
    if (!llvm::is_contained(targets, target.name))
      continue;
    TargetChoice &choice = choices.emplace_back(TargetChoice{target.name.str(), {}});
    for (const std::string &arch : archs)
      if (targets.size() == 1 || target.knows(arch))
        choice.archs.push_back(arch);
    taken += choice.archs.size();
    choice.archs = resolveArchs(target.name, choice.archs);
  }
  if (taken == archs.size())
    return choices;
  for (const std::string &arch : archs)
    if (llvm::none_of(choices, [&](const TargetChoice &choice) {
          return llvm::is_contained(choice.archs, arch);
        }))
      return llvm::createStringError("--arch " + arch + ": no such machine is known to any of " +
                                     "--target " + llvm::join(targets, ","));
  llvm_unreachable("an arch is one target's alone");
}
