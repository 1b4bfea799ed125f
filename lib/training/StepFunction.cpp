// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/StepFunction.h"

using namespace mlir;
using namespace accc;

StepFunction StepFunction::copy(func::FuncOp source, StringRef name) {
  func::FuncOp function = source.clone();
  function.setName(name);
  cast<ModuleOp>(source->getParentOp()).push_back(function);
  return StepFunction(function);
}

StepFunction StepFunction::create(ModuleOp module, Location loc, StringRef name) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto function = builder.create<func::FuncOp>(loc, name, builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  builder.create<func::ReturnOp>(loc);
  return StepFunction(function);
}

StringRef StepFunction::argumentName(unsigned i) const {
  return argumentText(function, i, kNameAttr);
}
std::optional<Role> StepFunction::argumentRole(unsigned i) const {
  return accc::argumentRole(function, i);
}
StringRef StepFunction::resultName(unsigned i) const { return resultText(function, i, kNameAttr); }
std::optional<Role> StepFunction::resultRole(unsigned i) const {
  return accc::resultRole(function, i);
}

void StepFunction::freeze(ArrayRef<unsigned> arguments) const {
  if (arguments.empty())
    return;
  SmallVector<DictionaryAttr> attributes;
  function.getAllArgAttrs(attributes);
  for (unsigned i : arguments) {
    NamedAttrList list(attributes[i]);
    list.set(kFrozenAttr, UnitAttr::get(function.getContext()));
    attributes[i] = list.getDictionary(function.getContext());
  }
  function.setAllArgAttrs(attributes);
}

SmallVector<unsigned> StepFunction::argumentsOf(Role role) const {
  SmallVector<unsigned> found;
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    if (argumentRole(i) == role)
      found.push_back(i);
  return found;
}

static DictionaryAttr describe(OpBuilder &builder, StringRef name, Role role, StringRef updates) {
  SmallVector<NamedAttribute> attributes = {
      builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)),
      builder.getNamedAttr(kRoleAttr, prim::RoleAttr::get(builder.getContext(), role))};
  if (!updates.empty())
    attributes.push_back(builder.getNamedAttr(kUpdatesAttr, builder.getStringAttr(updates)));
  return builder.getDictionaryAttr(attributes);
}

Value StepFunction::addArgument(StringRef name, Role role, Type type) const {
  return StepAdditions(*this).addArgument(name, role, type);
}

void StepFunction::addResult(Value value, StringRef name, Role role, StringRef updates) const {
  StepAdditions(*this).addResult(value, name, role, updates);
}

Value StepAdditions::addArgument(StringRef name, Role role, Type type) {
  OpBuilder builder(type.getContext());
  arguments.push_back(describe(builder, name, role, ""));
  return step.body().addArgument(type, step.get().getLoc());
}

void StepAdditions::addResult(Value value, StringRef name, Role role, StringRef updates) {
  OpBuilder builder(value.getContext());
  results.push_back(describe(builder, name, role, updates));
  values.push_back(value);
}

void StepAdditions::commit() {
  if (arguments.empty() && results.empty())
    return;
  func::FuncOp function = step.get();
  SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
  function.getAllArgAttrs(argumentAttributes);
  function.getAllResultAttrs(resultAttributes);
  llvm::append_range(argumentAttributes, arguments);
  llvm::append_range(resultAttributes, results);
  Operation *terminator = step.terminator();
  terminator->insertOperands(terminator->getNumOperands(), values);
  function.setType(FunctionType::get(function.getContext(), step.body().getArgumentTypes(),
                                     terminator->getOperandTypes()));
  function.setAllArgAttrs(argumentAttributes);
  function.setAllResultAttrs(resultAttributes);
  arguments.clear();
  results.clear();
  values.clear();
}

void StepFunction::setResult(unsigned i, Value value) const {
  terminator()->setOperand(i, value);
  function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                     terminator()->getOperandTypes()));
}

void StepFunction::setResultRole(unsigned i, Role role) const {
  function.setResultAttr(i, kRoleAttr, prim::RoleAttr::get(function.getContext(), role));
}

void StepFunction::eraseResultsOf(Role role) const {
  llvm::BitVector erased(numResults());
  for (unsigned i = 0, e = numResults(); i < e; ++i)
    if (resultRole(i) == role)
      erased.set(i);
  function.eraseResults(erased);
  terminator()->eraseOperands(erased);
}

void StepFunction::eraseResult(unsigned i) const {
  function.eraseResult(i);
  terminator()->eraseOperand(i);
}
