// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/Schedule.h"

#include "accc/abi.h"
#include "schedule/EntryBuilder.h"
#include "schedule/Kernels.h"
#include "support/Attributes.h"
#include "support/TensorBytes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace accc;

namespace {
bool isVariable(StringRef roleName) {
  return roleName == role::kParameter || roleName == role::kBuffer ||
         roleName == role::kOptimizerState;
}

/// Lays out the variables of all functions: parameters, then optimizer state, then buffers, so that
/// what an optimizer streams through lies together.
LogicalResult declareVariables(ModuleOp module, OpBuilder &b, VariableTable &table) {
  struct Found {
    std::string name, roleName;
    RankedTensorType type;
    bool frozen;
  };
  std::vector<Found> found;
  llvm::StringMap<size_t> known;
  for (auto function : module.getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto roleName = function.getArgAttrOfType<StringAttr>(i, kRoleAttr);
      auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr);
      if (!roleName || !name)
        return function.emitError("bug in accc: argument ") << i << " has no role or no name";
      if (!isVariable(roleName))
        continue;
      auto type = cast<RankedTensorType>(function.getArgument(i).getType());
      auto [it, isNew] = known.try_emplace(name, found.size());
      if (!isNew) {
        if (found[it->second].type != type)
          return function.emitError("bug in accc: variable '")
                 << name.getValue() << "' has two types";
        continue;
      }
      found.push_back(
          {name.str(), roleName.str(), type, function.getArgAttr(i, kFrozenAttr) != nullptr});
    }
  }
  int64_t offset = 0;
  for (StringRef wanted : {role::kParameter, role::kOptimizerState, role::kBuffer}) {
    for (const Found &variable : found) {
      if (variable.roleName != wanted)
        continue;
      bool trainable = wanted == role::kParameter && !variable.frozen;
      b.create<exec::VariableOp>(module.getLoc(), b.getStringAttr(variable.name),
                                 b.getStringAttr(variable.roleName), TypeAttr::get(variable.type),
                                 b.getI64IntegerAttr(offset),
                                 trainable ? b.getUnitAttr() : UnitAttr());
      table[variable.name] = offset;
      offset += (tensorBytes(variable.type) + ACCC_ALIGNMENT - 1) / ACCC_ALIGNMENT * ACCC_ALIGNMENT;
    }
  }
  return success();
}
} // namespace

FailureOr<OwningOpRef<ModuleOp>> accc::schedule(ModuleOp module) {
  module.getContext()->loadDialect<exec::ExecDialect>();
  OwningOpRef<ModuleOp> program = ModuleOp::create(module.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(program->getBody());
  VariableTable variables;
  if (failed(declareVariables(module, b, variables)))
    return failure();
  KernelTable kernels(*program);
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(EntryBuilder(function, *program, variables, kernels).build()))
      return failure();
  if (failed(verifySchedule(*program)))
    return failure();
  return program;
}
