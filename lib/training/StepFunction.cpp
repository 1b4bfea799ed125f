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
StringRef StepFunction::argumentRole(unsigned i) const {
  return argumentText(function, i, kRoleAttr);
}
StringRef StepFunction::resultName(unsigned i) const { return resultText(function, i, kNameAttr); }
StringRef StepFunction::resultRole(unsigned i) const { return resultText(function, i, kRoleAttr); }

void StepFunction::freeze(unsigned i) const {
  function.setArgAttr(i, kFrozenAttr, UnitAttr::get(function.getContext()));
}

SmallVector<unsigned> StepFunction::argumentsOf(StringRef role) const {
  SmallVector<unsigned> found;
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    if (argumentRole(i) == role)
      found.push_back(i);
  return found;
}

static DictionaryAttr describe(OpBuilder &builder, StringRef name, StringRef role,
                               StringRef updates) {
  SmallVector<NamedAttribute> attributes = {
      builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)),
      builder.getNamedAttr(kRoleAttr, builder.getStringAttr(role))};
  if (!updates.empty())
    attributes.push_back(builder.getNamedAttr(kUpdatesAttr, builder.getStringAttr(updates)));
  return builder.getDictionaryAttr(attributes);
}

Value StepFunction::addArgument(StringRef name, StringRef role, Type type) const {
  OpBuilder builder(function.getContext());
  unsigned index = function.getNumArguments();
  function.insertArgument(index, type, describe(builder, name, role, ""), function.getLoc());
  return function.getArgument(index);
}

void StepFunction::addResult(Value value, StringRef name, StringRef role, StringRef updates) const {
  OpBuilder builder(function.getContext());
  function.insertResult(function.getNumResults(), value.getType(),
                        describe(builder, name, role, updates));
  terminator()->insertOperands(terminator()->getNumOperands(), value);
}

void StepFunction::setResultRole(unsigned i, StringRef role) const {
  function.setResultAttr(i, kRoleAttr, StringAttr::get(function.getContext(), role));
}

void StepFunction::eraseResultsOf(StringRef role) const {
  for (unsigned i = numResults(); i-- > 0;)
    if (resultRole(i) == role)
      eraseResult(i);
}

void StepFunction::eraseResult(unsigned i) const {
  function.eraseResult(i);
  terminator()->eraseOperand(i);
}
