// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/kernel/ReduceKernel.h"

#include "ir/prim/KernelReductions.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

Reductions::Reductions(exec::KernelOp kernel)
    : kernel(kernel), domain(kernel.getSpecAttr()), position(domain.position(kernel.getContext())) {
  prim::KernelSpecAttr spec = kernel.getSpecAttr();
  Block &body = kernel.getBody().front();
  SmallVector<prim::ReduceOp> all(body.getOps<prim::ReduceOp>());
  prim::KernelReductions sorted = *prim::sortReductions(all);
  columns = sorted.columns;
  stripRows = sorted.stripRows();
  for (auto [reduction, level] : llvm::zip_equal(all, spec.getLevels().asArrayRef())) {
    if (sorted.isColumn(reduction))
      continue;
    levels.resize(std::max<size_t>(levels.size(), level + 1));
    levels[level].push_back(reduction);
  }
  for (Operation &op : body.without_terminator()) {
    size_t &own = depth[&op];
    for (Value operand : op.getOperands())
      own = std::max(own, depthOf(operand));
    own += isa<prim::ReduceOp>(op);
  }
  ArrayRef<int64_t> space = spaceShape();
  for (auto [result, depth] :
       llvm::zip_equal(body.getTerminator()->getOperands(), spec.getDepths().asArrayRef()))
    outputs.push_back({result, cast<RankedTensorType>(result.getType()).getShape() == space,
                       sorted.isColumn(result), static_cast<size_t>(depth)});
}

Type Reductions::elementOf(prim::ReduceOp reduction) {
  return BodyEmitter::registerType(reduction.getResult().getType().getElementType());
}

Type Reductions::accumulatorOf(prim::ReduceOp reduction) {
  return reduction.getAccumulatorType(elementOf(reduction));
}

Value Reductions::initialOf(BodyEmitter &emitter, prim::ReduceOp reduction) {
  return emitter.constant(reduction.getInitial(accumulatorOf(reduction)));
}

Value Reductions::combine(BodyEmitter &emitter, prim::ReduceOp reduction, Value a, Value b) {
  return reduction.emitCombine(emitter.builder(), a, b);
}

Value Reductions::operandOf(BodyEmitter &emitter, prim::ReduceOp reduction) const {
  prim::ElementOf of{reduction.getOperand(), position};
  if (llvm::is_contained(columns, reduction))
    of = prim::columnOperand(reduction, spaceShape(), position);
  return emitter.toVector(
      emitter.convertFloat(emitter.element(of.tensor, of.index), accumulatorOf(reduction)));
}

Reductions Reductions::movedBy(unsigned dim, int64_t rows) const {
  Reductions moved(*this);
  moved.position[dim] = position[dim] + rows;
  return moved;
}

ArrayRef<int64_t> Reductions::spaceShape() const {
  return prim::ReduceOp(levels.front().front()).getOperand().getType().getShape();
}

SmallVector<Value> Reductions::findShared() const {
  SmallVector<Value> shared;
  for (auto op : exec::KernelOp(kernel).getBody().front().getOps<prim::BroadcastOp>()) {
    ArrayRef<int64_t> extents = op.getOperand().getType().getShape();
    auto along = [&](bool ofReduced) {
      return llvm::any_of(llvm::enumerate(op.getDimensions()), [&](auto each) {
        return extents[each.index()] != 1 && domain.reduced[each.value()] == ofReduced;
      });
    };
    if (op.getType().getShape() == spaceShape() && depthOf(op) == 0 && along(true) && !along(false))
      shared.push_back(op);
  }
  return shared;
}

void Reductions::bind(BodyEmitter &emitter, prim::ReduceOp reduction, Value total) const {
  emitter.bind(reduction.getResult(), keptPosition(),
               emitter.convertFloat(total, elementOf(reduction)));
}

SmallVector<AffineExpr> Reductions::keptPosition() const {
  SmallVector<AffineExpr> result;
  for (size_t i = 0; i < position.size(); ++i)
    if (!domain.reduced[i])
      result.push_back(position[i]);
  return result;
}

bool Reductions::hasFullOutput(size_t depth) const {
  return llvm::any_of(outputs, [&](const Output &o) { return o.full && o.depth == depth; });
}

SmallVector<std::pair<unsigned, Value>> Reductions::computeFull(BodyEmitter &emitter,
                                                                size_t depth) const {
  SmallVector<std::pair<unsigned, Value>> values;
  for (auto [i, output] : llvm::enumerate(outputs))
    if (output.full && output.depth == depth)
      values.push_back({static_cast<unsigned>(i), emitter.element(output.value, position)});
  return values;
}

void Reductions::storeFull(BodyEmitter &emitter, size_t depth) const {
  for (auto [i, value] : computeFull(emitter, depth))
    emitter.store(i, position, value);
}

void Reductions::storeKept(BodyEmitter &emitter) const {
  for (auto [i, output] : llvm::enumerate(outputs))
    if (!output.full && !output.column)
      emitter.store(static_cast<unsigned>(i), keptPosition(),
                    emitter.element(output.value, keptPosition()));
}

void Reductions::emitAll(BodyEmitter &emitter) const {
  for (auto [level, reductions] : llvm::enumerate(levels)) {
    storeFull(emitter, level);
    for (prim::ReduceOp reduction : reductions) {
      operandOf(emitter, reduction);
      bind(emitter, reduction, initialOf(emitter, reduction));
    }
  }
  storeFull(emitter, levels.size());
  for (prim::ReduceOp column : columns)
    operandOf(emitter, column);
}

FailureOr<KernelFunction> codegen::emitReduceKernel(exec::KernelOp kernel, ModuleOp module,
                                                    const KernelTarget &target,
                                                    ErrorTable &errors) {
  Reductions reductions(kernel);
  func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/true);
  if (reductions.domain.count(false) == 0)
    return KernelFunction{function, target.getLaunchShape(function, 0)};
  return target.lanesAreThreads() ? reduceByThreads(reductions, function, target, errors)
                                  : reduceInVectors(reductions, function, target, errors);
}
