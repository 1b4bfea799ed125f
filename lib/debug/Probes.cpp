// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "debug/Probes.h"

#include "codegen/Generate.h"
#include "ir/prim/FunctionContract.h"
#include "ir/prim/Prim.h"
#include "schedule/Schedule.h"
#include "support/ProblemCollector.h"

using namespace mlir;
using namespace accc;

/// A module with the one function @probe, which computes what `op` computes.
static OwningOpRef<ModuleOp> isolate(Operation *op) {
  OpBuilder b(op->getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  b.setInsertionPointToEnd(module->getBody());
  auto type = b.getFunctionType(op->getOperandTypes(), op->getResultTypes());
  auto function = b.create<func::FuncOp>(op->getLoc(), "probe", type);
  Block *block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
  Operation *clone = b.clone(*op);
  clone->setOperands(block->getArguments());
  b.create<func::ReturnOp>(op->getLoc(), clone->getResults());
  auto describe = [&](const char *prefix, unsigned i, Role role) {
    return b.getDictionaryAttr(
        {b.getNamedAttr(kNameAttr, b.getStringAttr(prefix + std::to_string(i))),
         b.getNamedAttr(kRoleAttr, prim::RoleAttr::get(b.getContext(), role))});
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.setArgAttrs(i, describe("in", i, Role::Input));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function.setResultAttrs(i, describe("out", i, Role::Output));
  return module;
}

static bool isKernel(Operation &op) {
  if (isa<prim::FusionOp, prim::FusionEachOp>(op))
    return true;
  auto fusible = dyn_cast<Fusible>(op);
  return fusible && fusible.getFusionClass() == FusionClass::Opaque;
}

static std::string labelOf(Operation &op) {
  std::string node = nodeName(op.getLoc());
  auto name = op.getAttrOfType<StringAttr>("name"); // of a fusion
  std::string label = name ? name.str() : op.getName().getStringRef().str();
  return node.empty() ? label : label + " of node '" + node + "'";
}

LogicalResult accc::makeProbes(func::FuncOp step, const NamedArrays &values, const Target &target,
                               const std::string &folder, std::vector<KernelProbe> &probes) {
  FailureOr<DenseMap<Value, ReferenceArray>> all = evaluateAll(step, values);
  if (failed(all))
    return failure();
  for (auto [argument, array] : llvm::zip_equal(step.getArguments(), argumentsOf(step, values)))
    (*all)[argument] = array;

  for (Operation &op : step.front().without_terminator()) {
    if (!isKernel(op))
      continue;
    KernelProbe probe{step.getName().str(),
                      labelOf(op),
                      folder + "/" + std::to_string(probes.size()) + ".so",
                      {},
                      {}};
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      probe.inputs.emplace(
          "in" + std::to_string(i),
          toTensor(all->lookup(operand), cast<RankedTensorType>(operand.getType())));
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      probe.expected.emplace(
          "out" + std::to_string(i),
          toTensor(all->lookup(result), cast<RankedTensorType>(result.getType())));
    OwningOpRef<ModuleOp> module = isolate(&op);
    FailureOr<OwningOpRef<ModuleOp>> program = schedule(*module);
    GenerateOptions options;
    options.modelName = "probe";
    if (failed(program) ||
        failed(generateLibrary({{**program, &target}}, {}, options, probe.library)))
      return emitError(op.getLoc()) << "no library can be made of the kernel " << probe.label;
    probes.push_back(std::move(probe));
  }
  return success();
}
