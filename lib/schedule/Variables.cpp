// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/Variables.h"

#include "accc/abi.h"
#include "ir/prim/FunctionContract.h"
#include "support/Fault.h"
#include "support/TensorBytes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace accc;

FailureOr<VariableTable> accc::declareVariables(ModuleOp module, ModuleOp program) {
  struct Found {
    std::string name;
    Role role;
    RankedTensorType type; // as users see it
    DenseI64ArrayAttr order;
    bool frozen;
  };
  std::vector<Found> found;
  llvm::StringMap<size_t> known;
  for (auto function : module.getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto role = argumentRole(function, i);
      auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr);
      if (!role || !name)
        return emitBug(function.getLoc()) << "argument " << i << " has no role or no name";
      if (!isVariable(role))
        continue;
      auto order = function.getArgAttrOfType<DenseI64ArrayAttr>(i, kOrderAttr);
      RankedTensorType type = typeForUsers(
          cast<RankedTensorType>(function.getArgument(i).getType()), argumentOrder(function, i));
      auto [it, isNew] = known.try_emplace(name, found.size());
      if (!isNew) {
        if (found[it->second].type != type)
          return emitBug(function.getLoc()) << "variable '" << name.getValue() << "' has two types";
        if (found[it->second].order != order)
          return emitBug(function.getLoc())
                 << "variable '" << name.getValue() << "' lies in two orders";
        // One step of several may leave alone what another trains.
        found[it->second].frozen &= function.getArgAttr(i, kFrozenAttr) != nullptr;
        continue;
      }
      found.push_back(
          {name.str(), *role, type, order, function.getArgAttr(i, kFrozenAttr) != nullptr});
    }
  }
  OpBuilder b = OpBuilder::atBlockEnd(program.getBody());
  VariableTable table;
  int64_t offset = 0;
  for (Role wanted : {Role::Parameter, Role::OptimizerState, Role::Buffer}) {
    for (const Found &variable : found) {
      if (variable.role != wanted)
        continue;
      bool trainable = wanted == Role::Parameter && !variable.frozen;
      b.create<exec::VariableOp>(
          module.getLoc(), b.getStringAttr(variable.name),
          prim::RoleAttr::get(b.getContext(), variable.role), TypeAttr::get(variable.type),
          variable.order, b.getI64IntegerAttr(offset), trainable ? b.getUnitAttr() : UnitAttr());
      table[variable.name] = offset;
      offset += (tensorBytes(variable.type) + ACCC_ALIGNMENT - 1) / ACCC_ALIGNMENT * ACCC_ALIGNMENT;
    }
  }
  return table;
}
