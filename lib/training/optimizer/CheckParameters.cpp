// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/optimizer/CheckParameters.h"

#include "support/Fault.h"

using namespace mlir;
using namespace accc;

LogicalResult accc::checkParameters(StepFunction step, const ParameterGroups &groups,
                                    StringRef common, const OtherNames &otherNames) {
  bool good = true;
  auto check = [&](const Optimizer &optimizer, StringRef text) {
    std::string why, first;
    unsigned count = 0;
    for (unsigned i : step.argumentsOf(Role::Parameter)) {
      StringRef name = step.argumentName(i);
      if (step.isFrozen(i) || &groups.choose(name, otherNames) != &optimizer)
        continue;
      std::string refused =
          optimizer.whyNot(cast<RankedTensorType>(step.get().getArgument(i).getType()));
      if (!refused.empty() && count++ == 0)
        std::tie(why, first) = std::pair(refused, name.str());
    }
    if (count == 0)
      return;
    good = false;
    InFlightDiagnostic error = emitUsageFault(wholeModel(step));
    error << text << ": " << why << ", which '" << first << "'";
    if (count > 1)
      error << " and " << count - 1 << (count == 2 ? " other parameter" : " other parameters");
    error << (count == 1 ? " is not; give it" : " are not; give them")
          << " another optimizer, as in --param-group 'bias$' adamw";
  };
  check(groups.getCommon(), ("--optimizer " + common).str());
  for (const ParameterGroups::Group &group : groups.getGroups())
    check(*group.optimizer, group.parameters.getText());
  return success(good);
}
