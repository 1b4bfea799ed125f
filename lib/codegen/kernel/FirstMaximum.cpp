// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/kernel/FirstMaximum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

template <typename Op> static Windows windowsOf(Op op, Value source) {
  auto geometry = prim::WindowGeometry::of(op, op.getOperand());
  return {op, op.getOperand(), source, geometry, geometry.positions()};
}

Windows Windows::of(exec::KernelOp kernel) {
  Operation *yield = kernel.getBody().front().getTerminator();
  Operation *op = yield->getNumOperands() == 1 ? yield->getOperand(0).getDefiningOp() : nullptr;
  if (auto scatter = dyn_cast_or_null<prim::WindowScatterOp>(op))
    return windowsOf(scatter, scatter.getSource());
  if (auto argWindow = dyn_cast_or_null<prim::ArgWindowOp>(op))
    return windowsOf(argWindow, nullptr);
  return {};
}

SmallVector<AffineExpr> Windows::elementAt(ArrayRef<AffineExpr> position,
                                           ArrayRef<int64_t> offset) const {
  return elementAt(position, getAffineConstantExprs(offset, operand.getContext()));
}

SmallVector<AffineExpr> Windows::elementAt(ArrayRef<AffineExpr> position,
                                           ArrayRef<AffineExpr> offset) const {
  SmallVector<AffineExpr> at;
  for (size_t d = 0; d < offset.size(); ++d)
    at.push_back(position[d] * geometry.strides[d] +
                 (offset[d] * geometry.dilations[d] - geometry.low[d]));
  return at;
}

SmallVector<IndexRange> Windows::rangesOf(ArrayRef<AffineExpr> at) const {
  SmallVector<IndexRange> ranges;
  for (auto [expression, extent] : llvm::zip(at, shape()))
    ranges.push_back({expression, 0, extent});
  return ranges;
}

AffineExpr Windows::linear(ArrayRef<AffineExpr> at) const {
  AffineExpr result = getAffineConstantExpr(0, operand.getContext());
  for (auto [expression, extent] : llvm::zip(at, shape()))
    result = result * extent + expression;
  return result;
}

NearestIndices::Nearest NearestIndices::along(size_t d, AffineExpr at) {
  auto [entry, isNew] = known.try_emplace({d, at});
  if (isNew) {
    OpBuilder &b = emitter.builder();
    Location loc = emitter.loc();
    IndexEmitter &index = emitter.indices();
    Value inside = index.inRange(at, 0, shape[d]);
    if (!inside) {
      entry->second = {at, nullptr};
    } else {
      Value value = index.evaluate(index.simplify(at)).base;
      value = b.create<arith::MaxSIOp>(loc, value, index.constant(0));
      value = b.create<arith::MinSIOp>(loc, value, index.constant(shape[d] - 1));
      entry->second = {index.addSymbol(value, shape[d]), inside};
    }
  }
  return entry->second;
}

std::pair<SmallVector<AffineExpr>, Value> NearestIndices::of(ArrayRef<AffineExpr> at) {
  SmallVector<AffineExpr> indices;
  Value inside;
  for (auto [d, expression] : llvm::enumerate(at)) {
    Nearest nearest = along(d, expression);
    indices.push_back(nearest.index);
    if (nearest.inside)
      inside = inside ? Value(emitter.builder().create<arith::AndIOp>(emitter.loc(), inside,
                                                                      nearest.inside))
                      : nearest.inside;
  }
  return {indices, inside};
}

Value codegen::firstMaximum(BodyEmitter &emitter, const Windows &w, ArrayRef<AffineExpr> position,
                            IntegerType labelType,
                            function_ref<Value(int64_t, ArrayRef<AffineExpr>)> label) {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  auto order = cast<Ordering>(w.op);
  Value none = emitter.constant(b.getIntegerAttr(labelType, -1));
  Value zero = emitter.constant(b.getIntegerAttr(labelType, 0));
  Value lowest = emitter.constant(order.getLast(
      BodyEmitter::registerType(cast<RankedTensorType>(w.operand.getType()).getElementType())));
  Value best, where;
  int64_t number = 0;
  ReferenceArray::forEachIndex(w.window(), [&](ArrayRef<int64_t> offset) {
    SmallVector<AffineExpr> at = w.elementAt(position, offset);
    SmallVector<IndexRange> ranges = w.rangesOf(at);
    Value x = emitter.toVector(emitter.select(
        ranges, [&] { return emitter.element(w.operand, at); }, [&] { return lowest; }));
    Value here = emitter.toVector(
        emitter.select(ranges, [&] { return label(number, at); }, [&] { return none; }));
    ++number;
    if (!best) {
      best = x;
      where = here;
      return;
    }
    // Greater, or the first element inside the operand.
    Value greater = order.emitPrecedes(b, x, best);
    Value first =
        b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, where, emitter.toVector(zero));
    Value better = b.create<arith::OrIOp>(loc, greater, first);
    best = b.create<arith::SelectOp>(loc, better, x, best);
    where = b.create<arith::SelectOp>(loc, better, here, where);
  });
  return where;
}

Value codegen::firstMaximum(BodyEmitter &emitter, const Windows &w, ArrayRef<AffineExpr> position,
                            IntegerType labelType, NearestIndices &nearest,
                            function_ref<Value(int64_t, ArrayRef<AffineExpr>)> label) {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  auto op = cast<Ordering>(w.op);
  // From the last element to the first, an element replaces the maximum so far unless that is
  // greater: the first of equal elements is left, and any element replaces an empty maximum.
  Value best = emitter.constant(op.getLast(
      BodyEmitter::registerType(cast<RankedTensorType>(w.operand.getType()).getElementType())));
  Value where = emitter.constant(b.getIntegerAttr(labelType, -1));
  Value yes = emitter.constant(b.getBoolAttr(true));
  SmallVector<SmallVector<AffineExpr>> window;
  ReferenceArray::forEachIndex(w.window(), [&](ArrayRef<int64_t> offset) {
    window.push_back(w.elementAt(position, offset));
  });
  for (size_t number = window.size(); number-- > 0;) {
    auto [at, inside] = nearest.of(window[number]);
    Value x = emitter.element(w.operand, at);
    Value better = b.create<arith::XOrIOp>(loc, op.emitPrecedes(b, best, x), yes);
    if (inside)
      better = b.create<arith::AndIOp>(loc, better, inside);
    best = b.create<arith::SelectOp>(loc, better, x, best);
    where = b.create<arith::SelectOp>(loc, better, label(static_cast<int64_t>(number), at), where);
  }
  return where;
}

/// The same by a loop over the elements of the window.
static Value firstMaximumByLoop(BodyEmitter &emitter, const Windows &w,
                                ArrayRef<AffineExpr> position) {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  IndexEmitter &index = emitter.indices();
  auto order = cast<Ordering>(w.op);
  int64_t elements = ReferenceArray::count(w.window());
  Value none = emitter.constant(b.getI64IntegerAttr(-1));
  Value lowest = emitter.constant(order.getLast(
      BodyEmitter::registerType(cast<RankedTensorType>(w.operand.getType()).getElementType())));
  SmallVector<Value> best = {emitter.toVector(lowest), emitter.toVector(none)};
  best = forLoop(
      emitter, index.constant(0), index.constant(elements), 1, best,
      [&](Value number, ValueRange soFar) {
        AffineExpr rest = index.addSymbol(number, elements);
        SmallVector<AffineExpr> offset(w.window().size());
        for (size_t d = offset.size(); d-- > 0; rest = rest.floorDiv(w.window()[d]))
          offset[d] = index.simplify(rest % w.window()[d]);
        SmallVector<AffineExpr> at = w.elementAt(position, offset);
        SmallVector<IndexRange> ranges = w.rangesOf(at);
        Value x = emitter.toVector(emitter.select(
            ranges, [&] { return emitter.element(w.operand, at); }, [&] { return lowest; }));
        Value here = emitter.toVector(emitter.select(
            ranges, [&] { return emitter.indexValue(w.linear(at), b.getI64Type()); },
            [&] { return none; }));
        // Greater, or the first element inside the operand.
        Value better =
            b.create<arith::OrIOp>(loc, order.emitPrecedes(b, x, soFar[0]),
                                   b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, soFar[1],
                                                           emitter.toVector(none)));
        return SmallVector<Value>{b.create<arith::SelectOp>(loc, better, x, soFar[0]),
                                  b.create<arith::SelectOp>(loc, better, here, soFar[1])};
      });
  return best[1];
}

Value codegen::firstMaximumIndex(BodyEmitter &emitter, const Windows &w,
                                 ArrayRef<AffineExpr> position) {
  if (prim::isLargeWindow(w.window()))
    return firstMaximumByLoop(emitter, w, position);
  Type type = emitter.builder().getI64Type();
  auto label = [&](int64_t, ArrayRef<AffineExpr> at) {
    return emitter.indexValue(w.linear(at), type);
  };
  if (!emitter.target().lanesAreThreads())
    return firstMaximum(emitter, w, position, cast<IntegerType>(type), label);
  NearestIndices nearest(emitter, w.shape());
  return firstMaximum(emitter, w, position, cast<IntegerType>(type), nearest, label);
}
