// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/ModuleLocation.h"
#include "support/ModuleNames.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace accc;

Location accc::withModule(Location loc, StringRef module) {
  if (module.empty())
    return loc;
  MLIRContext *context = loc.getContext();
  return FusedLoc::get(context, loc, StringAttr::get(context, module));
}

Location accc::inBackward(Location loc) {
  return FusedLoc::get(loc.getContext(), loc, UnitAttr::get(loc.getContext()));
}

std::string accc::moduleNames(Location loc) {
  std::vector<std::string> modules;
  bool isBackward = false;
  loc->walk([&](Location part) {
    if (auto fused = dyn_cast<FusedLoc>(part)) {
      if (auto module = dyn_cast_or_null<StringAttr>(fused.getMetadata()))
        modules.push_back(module.str());
      isBackward |= isa_and_nonnull<UnitAttr>(fused.getMetadata());
    }
    return WalkResult::advance();
  });
  std::string names = nameModules(std::move(modules));
  return names.empty() || !isBackward ? names : names + kBackwardSuffix;
}
