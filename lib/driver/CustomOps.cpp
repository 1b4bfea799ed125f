// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/CustomOps.h"

#include "accc/custom_library.h"
#include "ir/interfaces/Interfaces.h"
#include "ir/prim/CustomArguments.h"
#include "support/ModuleLocation.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace accc;

llvm::Expected<prim::CustomOperators>
accc::loadCustomOperators(const std::vector<std::string> &libraries) {
  prim::CustomOperators all;
  for (const std::string &given : libraries) {
    auto refuse = [&](const llvm::Twine &why) {
      return llvm::createStringError("--custom-ops " + given + ": " + why);
    };
    llvm::SmallString<128> path(given);
    if (std::error_code code = llvm::sys::fs::make_absolute(path))
      return refuse(code.message());
    std::string file = llvm::sys::path::filename(given).str();
    try {
      CustomLibrary library = CustomLibrary::load(path.str().str());
      for (const accc_custom_operator &op : library.operators()) {
        auto [it, isNew] = all.try_emplace(op.name, prim::CustomOperator{&op, file});
        if (!isNew)
          return refuse(llvm::Twine(it->second.library) + " gives " + op.name + ", too");
      }
    } catch (const std::exception &error) { // Error has its type information in code with RTTI
      return refuse(error.what());
    }
  }
  return all;
}

/// What the operator lacks to run on the target, "no forward function for cuda", or nothing.
static std::string whatIsMissing(const accc_custom_operator &op, StringRef target, bool isTrained) {
  bool isCuda = target == "cuda";
  if (!(isCuda ? op.forward_cuda : op.forward_cpu))
    return "no forward function for " + target.str();
  if (isTrained && op.gradient == ACCC_GRADIENT_BACKWARD &&
      !(isCuda ? op.backward_cuda : op.backward_cpu))
    return "no backward function for " + target.str();
  return "";
}

/// What is wrong with the call of an operator, as IR text may have it; or nothing. What the library
/// refuses is reported by a diagnostic.
static std::string whyCallIsWrong(CustomCallLike call, const prim::CustomOperator &op) {
  if (!prim::isCustomConfig(call.getConfig()))
    return "has an attribute that is none of i64, f64, string and lists of them";
  FailureOr<SmallVector<Type>> types =
      prim::inferCustomResults(call.getLoc(), op, call.getOperatorInputs(), call.getConfig());
  if (failed(types))
    return "is not valid here";
  return *types == call.getOperatorOutputs() ? "" : "has results of other types here";
}

LogicalResult accc::checkCustomCalls(Compilation &c) {
  bool good = true;
  c.module->walk([&](CustomCallLike call) {
    auto report = [&](const std::string &what) {
      c.problems.add({.node = nodeName(call.getLoc()),
                      .op = call.getCallee().str(),
                      .message = "the custom operator " + what});
      good = false;
    };
    const prim::CustomOperator *op = prim::findCustomOperator(&c.context, call.getCallee());
    if (!op)
      return report("is not given by a library of --custom-ops; it is in " +
                    call.getLibrary().str());
    if (std::string wrong = whyCallIsWrong(call, *op); !wrong.empty())
      return report(wrong);
    for (const TargetBranch &branch : c.branches)
      if (std::string missing =
              whatIsMissing(*op->functions, branch.choice.target, !c.options.losses.empty());
          !missing.empty())
        report("has " + missing);
  });
  return success(good);
}
