// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/SharedVariables.h"

#include "ir/prim/FunctionContract.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace accc;

/// "parameter tensor<64x16xf32>" by name.
static VariableTypes variablesOf(ModuleOp module) {
  VariableTypes variables;
  auto forward = module.lookupSymbol<func::FuncOp>("forward");
  for (unsigned i = 0, e = forward ? forward.getNumArguments() : 0; i < e; ++i) {
    auto name = forward.getArgAttrOfType<StringAttr>(i, kNameAttr);
    auto role = argumentRole(forward, i);
    if (!name || !isVariable(role))
      continue;
    llvm::raw_string_ostream(variables[name.str()])
        << *role << " " << forward.getArgumentTypes()[i];
  }
  return variables;
}

LogicalResult accc::shareVariables(Compilation &c, WeightTable weights) {
  VariableTypes variables = variablesOf(*c.module);
  if (!c.variables) {
    c.variables = {c.sizes.text, std::move(variables)};
    c.weights = std::move(weights);
    return success();
  }
  const auto &[firstSizes, first] = *c.variables;
  bool same = true;
  auto differs = [&](const std::string &name, const std::string &then, const std::string &now) {
    c.problems.add(
        {.message = "'" + name + "' is " + then + " with -D " + firstSizes + ", but " + now +
                    " with -D " + c.sizes.text +
                    ": all sizes in a library share its parameters and buffers; compile a "
                    "library for each"});
    same = false;
  };
  for (const auto &[name, type] : first) {
    auto now = variables.find(name);
    if (now == variables.end())
      differs(name, type, "not there");
    else if (now->second != type)
      differs(name, type, now->second);
    else if (auto then = c.weights.find(name), value = weights.find(name);
             (then == c.weights.end()) != (value == weights.end()) ||
             (then != c.weights.end() && then->second.bytes != value->second.bytes))
      differs(name, type, "starts from other values");
  }
  for (const auto &[name, type] : variables)
    if (!first.contains(name))
      differs(name, "not there", type);
  return success(same);
}
