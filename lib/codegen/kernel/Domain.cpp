// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/kernel/Domain.h"

#include "support/TensorBytes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

Domain::Domain(prim::KernelSpecAttr spec) : extents(spec.getExtents().asArrayRef()) {
  reduced.assign(extents.size(), false);
  for (int64_t d : spec.getReduced().asArrayRef())
    reduced[d] = true;
}

int64_t Domain::count(bool ofReduced) const {
  int64_t n = 1;
  for (size_t i = 0; i < extents.size(); ++i)
    if (isReduced(i) == ofReduced)
      n *= extents[i];
  return n;
}

int64_t Domain::innermost() const {
  for (int64_t i = static_cast<int64_t>(extents.size()) - 1; i >= 0; --i)
    if (extents[i] != 1)
      return i;
  return static_cast<int64_t>(extents.size()) - 1;
}

SmallVector<AffineExpr> Domain::position(MLIRContext *context) const {
  SmallVector<AffineExpr> result;
  for (auto [i, extent] : llvm::enumerate(extents))
    result.push_back(extent == 1 ? getAffineConstantExpr(0, context)
                                 : getAffineDimExpr(static_cast<unsigned>(i), context));
  return result;
}

BodyEmitter::Recorder codegen::recordAccesses(exec::KernelOp kernel, const Domain &domain,
                                              const KernelTarget &target,
                                              function_ref<void(BodyEmitter &)> emit, unsigned dim,
                                              int64_t width, AffineExpr multiple) {
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(kernel.getLoc());
  func::FuncOp function = target.createFunction(kernel, *scratch, /*inLanes=*/false);
  ErrorTable errors;
  BodyEmitter emitter(kernel, function, target, errors,
                      static_cast<unsigned>(domain.extents.size()));
  BodyEmitter::Recorder recorder;
  emitter.setRecorder(&recorder);
  for (auto [i, extent] : llvm::enumerate(domain.extents))
    emitter.indices().setDim(static_cast<unsigned>(i), emitter.indices().constant(0), extent);
  emitter.indices().setVector(dim, width, multiple);
  emit(emitter);
  return recorder;
}

int64_t codegen::chooseNeighbours(exec::KernelOp kernel, const Domain &domain, unsigned dim,
                                  const KernelTarget &target,
                                  function_ref<void(BodyEmitter &)> emit, AffineExpr multiple) {
  int64_t bytes = target.getAccessBytes();
  auto widthOf = [&](int64_t elementBytes) {
    constexpr int64_t kMost = 8; // of bytes: what a thread computes with takes a register each
    return std::clamp<int64_t>(bytes / elementBytes, 1, kMost);
  };
  int64_t widest = 1;
  for (Type result : kernel.getBody().front().getTerminator()->getOperandTypes())
    widest = std::max(widest, elementBytes(cast<RankedTensorType>(result)));
  int64_t width = widthOf(widest);
  while (width > 1) {
    BodyEmitter::Recorder accesses =
        recordAccesses(kernel, domain, target, emit, dim, width, multiple);
    if (!accesses.wholeVectors)
      width /= 2;
    else if (width <= widthOf(accesses.widestBytes))
      return width;
    else
      width = widthOf(accesses.widestBytes);
  }
  return 1;
}

void codegen::branch(BodyEmitter &emitter, Value condition, function_ref<void()> body,
                     function_ref<void()> otherwise) {
  OpBuilder &b = emitter.builder();
  auto op = b.create<scf::IfOp>(emitter.loc(), condition, /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  auto emit = [&](Block *block, function_ref<void()> part) {
    b.setInsertionPointToStart(block);
    BodyEmitter::Scope scope(emitter);
    part();
  };
  emit(op.thenBlock(), body);
  if (otherwise)
    emit(op.elseBlock(), otherwise);
}

void codegen::forLoop(BodyEmitter &emitter, Value low, Value high, int64_t step,
                      function_ref<void(Value)> body) {
  forLoop(emitter, low, high, step, {}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

SmallVector<Value> codegen::forLoop(BodyEmitter &emitter, Value low, Value high, int64_t step,
                                    ValueRange carried,
                                    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  OpBuilder &b = emitter.builder();
  Value stepValue = emitter.indices().constant(step);
  auto loop = b.create<scf::ForOp>(emitter.loc(), low, high, stepValue, carried);
  OpBuilder::InsertionGuard guard(b);
  Block *block = loop.getBody();
  if (block->mightHaveTerminator() && !block->empty())
    block->getTerminator()->erase();
  b.setInsertionPointToEnd(block);
  BodyEmitter::Scope scope(emitter);
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  b.create<scf::YieldOp>(emitter.loc(), next);
  return SmallVector<Value>(loop.getResults());
}

void codegen::whereInside(BodyEmitter &emitter, ArrayRef<IndexRange> ranges,
                          function_ref<void()> body) {
  OpBuilder &b = emitter.builder();
  Value condition;
  for (const IndexRange &range : ranges)
    if (Value c = emitter.indices().inRange(range.expression, range.low, range.high))
      condition = condition ? b.create<arith::AndIOp>(emitter.loc(), condition, c) : c;
  BodyEmitter::Scope scope(emitter);
  if (!condition)
    return body();
  auto inside = b.create<scf::IfOp>(emitter.loc(), condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(inside.thenBlock());
  body();
}

void codegen::setRow(BodyEmitter &emitter, const Domain &domain, ArrayRef<unsigned> dims,
                     Value row) {
  IndexEmitter &index = emitter.indices();
  // A domain without elements has no rows: code for one is never run, but it must not divide by
  // zero.
  auto extentOf = [&](unsigned dim) { return std::max<int64_t>(1, domain.extents[dim]); };
  int64_t rows = 1; // those of dims[0] to dims[i]
  for (unsigned dim : dims)
    rows *= extentOf(dim);
  for (size_t i = dims.size(); i-- > 0;) {
    int64_t extent = extentOf(dims[i]);
    if (i == 0) {
      index.setDim(dims[i], row, extent);
      return;
    }
    auto [quotient, remainder] = index.divide(row, extent, rows);
    index.setDim(dims[i], remainder, extent);
    row = quotient;
    rows /= extent;
  }
}

Lines::Lines(BodyEmitter &emitter, const Domain &domain, unsigned along,
             std::optional<unsigned> lanes)
    : emitter(emitter), domain(domain) {
  IndexEmitter &index = emitter.indices();
  for (unsigned d = 0; d < domain.extents.size(); ++d) {
    index.setDim(d, index.constant(0), domain.extents[d]);
    position.push_back(index.dim(d));
    if (d == along)
      continue;
    withoutAlong.push_back(index.dim(d));
    if (d == lanes)
      continue;
    numbered.push_back(d);
    count *= domain.extents[d];
  }
}

int64_t codegen::forEachRow(BodyEmitter &emitter, func::FuncOp function, int64_t rows,
                            int64_t rowElements, function_ref<void(Value)> body) {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  const KernelTarget &target = emitter.target();
  int64_t rowsPerTask =
      std::max<int64_t>(1, target.getTaskElements(function) / std::max<int64_t>(1, rowElements));
  int64_t tasks = llvm::divideCeil(rows, rowsPerTask);
  Value perTask = emitter.indices().constant(rowsPerTask);
  auto [begin, end] = emitter.tasks(tasks);
  // A call does one row or none. From a loop LLVM would hoist the addresses of all that it
  // accesses.
  if (target.lanesAreThreads() && rowsPerTask == 1) {
    Value task = begin, isTask = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, task, end);
    branch(emitter, isTask, [&] { body(task); });
    return tasks;
  }
  Value first = b.create<arith::MulIOp>(loc, begin, perTask);
  Value last = b.create<arith::MulIOp>(loc, end, perTask);
  last = b.create<arith::MinUIOp>(loc, last, emitter.indices().constant(rows));
  forLoop(emitter, first, last, 1, body);
  return tasks;
}

int64_t codegen::forEachElement(BodyEmitter &emitter, func::FuncOp function,
                                ArrayRef<int64_t> shape, function_ref<void()> body) {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  IndexEmitter &index = emitter.indices();
  const KernelTarget &target = emitter.target();
  auto rank = static_cast<unsigned>(shape.size());
  int64_t count = ReferenceArray::count(shape), lanes = target.chooseLanes(count);
  auto tasks = static_cast<int64_t>(llvm::divideCeil(count, lanes));
  Domain domain(shape);
  SmallVector<unsigned> dims;
  for (unsigned d = 0; d < rank; ++d) {
    index.setDim(d, index.constant(0), shape[d]);
    if (shape[d] != 1)
      dims.push_back(d);
  }
  target.setLanes(emitter, rank, lanes);
  auto [begin, end] = emitter.tasks(tasks);
  Value perTask = index.constant(lanes);
  Value low = b.create<arith::MulIOp>(loc, begin, perTask);
  Value high = b.create<arith::MinUIOp>(loc, b.create<arith::MulIOp>(loc, end, perTask),
                                        index.constant(count));
  Value at = b.create<arith::AddIOp>(loc, low, target.getLane(b, function));
  Value exists = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, at, high);
  branch(emitter, exists, [&] {
    index.setDim(rank, at, count);
    setRow(emitter, domain, dims, at);
    body();
  });
  return tasks;
}
