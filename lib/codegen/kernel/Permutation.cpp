// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatter of as many updates as there are rows, each to a row of its own: a loop over the elements
// of the updates, which writes them elsewhere. Nothing has to be looked for, and no row is left.
#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Scatter.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

KernelFunction codegen::emitPermutation(exec::KernelOp kernel, func::FuncOp function,
                                        prim::ScatterOp scatter, const KernelTarget &target,
                                        ErrorTable &errors) {
  auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  ArrayRef<int64_t> updates = shapeOf(scatter.getUpdates());
  auto axis = static_cast<size_t>(scatter.getAxis());
  size_t indexRank = shapeOf(scatter.getIndices()).size();
  int64_t rows = shapeOf(scatter.getResult())[axis];

  Domain domain(updates);
  BodyEmitter emitter(kernel, function, target, errors, static_cast<unsigned>(updates.size()) + 1);
  if (domain.count(/*ofReduced=*/false) == 0)
    return {function, target.getLaunchShape(function, 0)};
  SmallVector<AffineExpr> from = domain.position(kernel.getContext());
  auto body = [&] {
    ArrayRef<AffineExpr> at(from);
    SmallVector<AffineExpr> to(at.take_front(axis));
    Value row = emitter.element(scatter.getIndices(), at.slice(axis, indexRank));
    to.push_back(emitter.symbol(row, rows, kNoRow));
    llvm::append_range(to, at.drop_front(axis + indexRank));
    Value next = emitter.toVector(emitter.element(scatter.getUpdates(), from));
    if (scatter.getKind() != prim::ScatterKind::set)
      next = scatter.emitCombine(emitter.builder(),
                                 emitter.toVector(emitter.element(scatter.getData(), to)), next);
    emitter.store(0, to, next);
  };
  if (target.lanesAreThreads())
    return {function,
            target.getLaunchShape(function, forEachElement(emitter, function, updates, body))};

  // Behind the axis lanes run along the last dimension.
  IndexEmitter &index = emitter.indices();
  bool vectors = axis + indexRank < updates.size();
  int64_t length = vectors ? updates.back() : 1;
  SmallVector<unsigned> outer;
  for (unsigned d = 0; d < updates.size() - vectors; ++d) {
    index.setDim(d, index.constant(0), updates[d]);
    outer.push_back(d);
  }
  auto last = static_cast<unsigned>(updates.size()) - 1;
  int64_t width = target.chooseLanes(length);
  if (vectors)
    target.setLanes(emitter, last, width);
  int64_t count = domain.count(/*ofReduced=*/false) / length;
  int64_t tasks = forEachRow(emitter, function, count, length, [&](Value row) {
    if (!outer.empty())
      setRow(emitter, domain, outer, row);
    if (!vectors)
      return body();
    target.loopOverLanes(emitter, last, length, index.constant(0), index.constant(length),
                         length % width == 0, {}, [&](ValueRange, Value) {
                           body();
                           return SmallVector<Value>();
                         });
  });
  return {function, target.getLaunchShape(function, tasks)};
}
