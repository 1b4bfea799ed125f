// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The end of an import: results, roles, what nobody uses, and a last look by the verifier.
#include "frontend/common/Raise.h"
#include "frontend/onnx/Error.h"
#include "frontend/onnx/GraphImporter.h"
#include "ir/prim/FunctionContract.h"
#include "support/DeadCode.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;

/// Tells what became of the module's state, and refuses what is lost where it is to be trained.
void GraphImporter::reportState(ImportResult &result) {
  Recovery &recovery = state.recovery;
  result.recovered = recovery.parameters;
  result.aliases = recovery.aliases;
  if (state.exported)
    for (const auto &entry : *state.exported)
      if (!entry.second.aliases.empty())
        result.aliases[entry.first().str()] = entry.second.aliases;
  // A variable that the step does not hold has no other names.
  std::erase_if(result.aliases,
                [&](const auto &entry) { return !result.weights.contains(entry.first); });
  if (importOptions.training)
    for (const std::string &warning : recovery.warnings)
      warn(warning);
  result.damage = recovery.damage.summary();
  if (importOptions.training && !importOptions.acceptDamage && !recovery.damage.empty())
    problems.push_back({"", "", recovery.damage.message(Evidence(*model).isTorchScript())});
}

void GraphImporter::finish(ImportResult &result) {
  SmallVector<Value> values;
  SmallVector<NamedAttrList> attributes;
  auto addResult = [&](Value value, StringRef name, Role role) -> NamedAttrList & {
    values.push_back(value);
    NamedAttrList list;
    list.set(kNameAttr, opBuilder.getStringAttr(name));
    list.set(kRoleAttr, prim::RoleAttr::get(&context, role));
    return attributes.emplace_back(std::move(list));
  };
  for (const onnx::ValueInfoProto &output : model->graph().output()) {
    try {
      Entity entity = lookup(output.name(), main);
      if (entity.isBroken)
        continue; // its problem is known
      if (!entity.tensor)
        fail("the output '" + output.name() + "' is not a tensor");
      addResult(entity.tensor, output.name(), Role::Output);
    } catch (const FileError &) {
      problems.push_back({.message = "the output '" + output.name() + "' cannot be read"});
    } catch (const ImportError &error) {
      problems.push_back({"", "", error.message});
    }
  }
  if (!problems.empty())
    return;
  for (const Variable &variable : variables.all)
    if (variable.update)
      addResult(variable.update, variable.name, Role::Update)
          .set(kUpdatesAttr, opBuilder.getStringAttr(variable.name));
  auto last = opBuilder.create<func::ReturnOp>(opBuilder.getUnknownLoc(), values);
  eraseDeadCode(*body); // first, for rules ask who else needs a value
  if (importOptions.raise)
    raiseComposites(*body);
  eraseDeadCode(*body);

  llvm::BitVector unused(body->getNumArguments());
  for (const Variable &variable : variables.all)
    if (variable.argument.use_empty())
      unused.set(cast<BlockArgument>(variable.argument).getArgNumber());
    else if (!result.weights.insert({variable.name, variable.weight}).second)
      problems.push_back({"", "", "two initializers are called '" + variable.name + "'"});

  // Attributes of arguments are set by number, before the unused ones go.
  forward.setType(opBuilder.getFunctionType(body->getArgumentTypes(), last.getOperandTypes()));
  SmallVector<NamedAttrList> argumentAttributes(body->getNumArguments());
  auto setArgument = [&](Value argument, StringRef name, Role role) -> NamedAttrList & {
    NamedAttrList &list = argumentAttributes[cast<BlockArgument>(argument).getArgNumber()];
    list.set(kNameAttr, opBuilder.getStringAttr(name));
    list.set(kRoleAttr, prim::RoleAttr::get(&context, role));
    return list;
  };
  auto dictionaries = [&](ArrayRef<NamedAttrList> lists) {
    return llvm::map_to_vector(
        lists, [&](const NamedAttrList &list) { return list.getDictionary(&context); });
  };
  for (auto [argument, role] : inputs)
    setArgument(argument, cast<NameLoc>(argument.getLoc()).getName(), role);
  for (const Variable &variable : variables.all) {
    bool isBuffer = variable.kind == InitializerKind::Buffer;
    NamedAttrList &list =
        setArgument(variable.argument, variable.name, isBuffer ? Role::Buffer : Role::Parameter);
    if (!isBuffer && variables.isFrozen(variable.name))
      list.set(kFrozenAttr, opBuilder.getUnitAttr());
  }
  forward.setAllArgAttrs(dictionaries(argumentAttributes));
  forward.setAllResultAttrs(dictionaries(attributes));
  forward.eraseArguments(unused);

  if (problems.empty() && failed(mlir::verify(*module)))
    problems.push_back({"", "", "the imported module is not valid: " + diagnostics});
  result.module = std::move(module);
}
