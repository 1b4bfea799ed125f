// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/Schedule.h"

#include "schedule/emit/EmitEntry.h"

using namespace mlir;
using namespace accc;

FailureOr<OwningOpRef<ModuleOp>> accc::schedule(ModuleOp module) {
  module.getContext()->loadDialect<exec::ExecDialect>();
  OwningOpRef<ModuleOp> program = ModuleOp::create(module.getLoc());
  FailureOr<VariableTable> variables = declareVariables(module, *program);
  if (failed(variables))
    return failure();
  KernelTable kernels(*program);
  for (auto function : module.getOps<func::FuncOp>()) {
    FailureOr<Order> order = orderSteps(function);
    if (failed(order))
      return failure();
    FailureOr<Placement> placement = Placement::compute(function, *order, *variables);
    if (failed(placement))
      return failure();
    emitEntry(function, *order, *placement, kernels, *program);
  }
  if (failed(verifySchedule(*program)))
    return failure();
  return program;
}
