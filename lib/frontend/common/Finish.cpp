// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The end of an import: results, roles, what nobody uses, and a last look by the verifier.
#include "frontend/common/ForwardBuilder.h"
#include "frontend/common/Raise.h"
#include "frontend/common/UnclearParameters.h"
#include "ir/prim/FunctionContract.h"
#include "ir/prim/NarrowSort.h"
#include "support/DeadCode.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;

/// Before the gradient is derived, which then has no more elements to take back.
static void narrowSorts(Block &block) {
  IRRewriter rewriter(block.getParentOp()->getContext());
  for (prim::SortOp sort : llvm::make_early_inc_range(block.getOps<prim::SortOp>()))
    (void)prim::narrowSort(sort, rewriter);
}

void ForwardBuilder::finish(ArrayRef<ForwardOutput> outputs, ImportResult &result) {
  SmallVector<Value> values;
  SmallVector<NamedAttrList> attributes;
  auto addResult = [&](Value value, StringRef name, Role role) -> NamedAttrList & {
    values.push_back(value);
    NamedAttrList list;
    list.set(kNameAttr, opBuilder.getStringAttr(name));
    list.set(kRoleAttr, prim::RoleAttr::get(&context, role));
    return attributes.emplace_back(std::move(list));
  };
  if (!problems.empty())
    return;
  auto markTraining = [&](NamedAttrList &list, bool isTraining) {
    if (isTraining)
      list.set(kTrainingAttr, opBuilder.getUnitAttr());
  };
  for (const ForwardOutput &output : outputs)
    markTraining(addResult(output.value, output.name, output.role), output.isTraining);
  for (const Variable &variable : variables) {
    if (!variable.update)
      continue;
    NamedAttrList &list = addResult(variable.update, variable.name, Role::Update);
    list.set(kUpdatesAttr, opBuilder.getStringAttr(variable.name));
    markTraining(list, variable.isTrained);
  }
  auto last = opBuilder.create<func::ReturnOp>(opBuilder.getUnknownLoc(), values);
  // What a barrier of an importer keeps apart may be used by nobody.
  auto isBarrier = [](Operation *op) { return isa<prim::OptimizationBarrierOp>(op); };
  eraseDeadCode(*body, isBarrier); // first, for rules ask who else needs a value
  narrowSorts(*body);
  if (importOptions.raise)
    raiseComposites(*body);
  eraseDeadCode(*body);

  llvm::StringSet<> gradients; // a parameter that has one is trained, read or not
  for (const ForwardOutput &output : outputs)
    if (output.role == Role::Gradient)
      gradients.insert(output.name);
  llvm::BitVector unused(body->getNumArguments());
  for (const Variable &variable : variables)
    if (variable.argument.use_empty() && !variable.update && !variable.isTrained &&
        !gradients.contains("grad." + variable.name))
      unused.set(cast<BlockArgument>(variable.argument).getArgNumber());
    else if (!result.weights.insert({variable.name, variable.weight}).second)
      problems.push_back({"", "", "two variables are called '" + variable.name + "'"});

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
  UnclearParameters unclear(*body, variables);
  for (auto [argument, role] : inputs)
    setArgument(argument, cast<NameLoc>(argument.getLoc()).getName(), role);
  for (const Variable &variable : variables) {
    NamedAttrList &list = setArgument(variable.argument, variable.name,
                                      variable.isBuffer ? Role::Buffer : Role::Parameter);
    if (!variable.isBuffer && variable.isFrozen)
      list.set(kFrozenAttr, opBuilder.getUnitAttr());
    if (std::string why = unclear.why(variable); !why.empty() && !variable.isFrozen) {
      list.set(kUnclearAttr, opBuilder.getStringAttr(why));
      if (variable.proof == Proof::Assumed)
        list.set(kAssumedAttr, opBuilder.getUnitAttr());
    }
  }
  forward.setAllArgAttrs(dictionaries(argumentAttributes));
  forward.setAllResultAttrs(dictionaries(attributes));
  forward.eraseArguments(unused);

  if (problems.empty() && failed(mlir::verify(*module)))
    problems.push_back({"", "", "the imported module is not valid: " + diagnostics});
  result.module = std::move(module);
}

void ForwardBuilder::reportFindings(ImportResult &result) {
  for (auto &[name, others] : aliases) // a variable that the step does not hold has none
    if (result.weights.contains(name))
      result.aliases[name] = others;
  result.wrongSizes = wrongSizes();
  result.remarks = std::move(remarks);
  result.problems = std::move(problems);
  result.dropIfWrong();
}
