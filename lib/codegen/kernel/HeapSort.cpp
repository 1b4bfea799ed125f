// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heap sort of the rows of a sort kernel, in place in one of its outputs: the indices, or where
// only the values are wanted these, of which equal ones need no order.
#include "codegen/kernel/Sort.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

class HeapSort {
public:
  HeapSort(BodyEmitter &emitter, prim::SortOp op, ArrayRef<AffineExpr> row)
      : emitter(emitter), b(emitter.builder()), loc(emitter.loc()), index(emitter.indices()),
        op(op), row(row), along(static_cast<size_t>(op.getDimension())),
        extent(op.getOperand().getType().getShape()[along]) {}

  void emit(ValueRange results);

private:
  /// The place `at` (i64) of the row.
  SmallVector<AffineExpr> place(Value at) {
    SmallVector<AffineExpr> position(row);
    position[along] = index.addSymbol(at, extent);
    return position;
  }
  Value load(Value at) { return emitter.loadOutput(output, place(at)); }
  void store(Value at, Value item) { emitter.store(output, place(at), item); }
  Value key(Value item) { return ofIndices ? emitter.element(op.getOperand(), place(item)) : item; }
  /// Whether item `a` goes after item `c`.
  Value goesAfter(Value a, Value c);
  void sift(Value root, Value size, Value item);

  Value compare(arith::CmpIPredicate predicate, Value a, Value c) {
    return b.create<arith::CmpIOp>(loc, predicate, a, c);
  }
  Value add(Value a, int64_t n) { return b.create<arith::AddIOp>(loc, a, index.constant(n)); }
  Value select(Value condition, Value a, Value c) {
    return b.create<arith::SelectOp>(loc, condition, a, c);
  }
  Value both(Value a, Value c) { return b.create<arith::AndIOp>(loc, a, c); }

  BodyEmitter &emitter;
  OpBuilder &b;
  Location loc;
  IndexEmitter &index;
  prim::SortOp op;
  ArrayRef<AffineExpr> row;
  size_t along;
  int64_t extent;
  unsigned output = 0;
  bool ofIndices = false;
};

Value HeapSort::goesAfter(Value a, Value c) {
  Value x = key(a), y = key(c);
  Value after = op.emitPrecedes(b, y, x);
  if (!ofIndices)
    return after;
  // Equal elements keep their order.
  Value yes = b.create<arith::ConstantOp>(loc, b.getBoolAttr(true));
  Value notBefore = b.create<arith::XOrIOp>(loc, op.emitPrecedes(b, x, y), yes);
  Value later = both(notBefore, compare(arith::CmpIPredicate::sgt, a, c));
  return b.create<arith::OrIOp>(loc, after, later);
}

/// Puts `item` where it belongs below `root` in a heap of `size` items, the last of them first.
void HeapSort::sift(Value root, Value size, Value item) {
  Type i64 = b.getI64Type();
  auto loop = b.create<scf::WhileOp>(loc, TypeRange{i64, i64, item.getType()}, ValueRange{root});
  {
    OpBuilder::InsertionGuard guard(b);
    BodyEmitter::Scope scope(emitter);
    Value hole = b.createBlock(&loop.getBefore(), {}, i64, loc)->getArgument(0);
    Value last = add(size, -1);
    // The child that goes after the other; where there is none, any item is compared.
    Value left = add(b.create<arith::MulIOp>(loc, hole, index.constant(2)), 1);
    Value exists = compare(arith::CmpIPredicate::sle, left, last);
    left = b.create<arith::MinSIOp>(loc, left, last);
    Value right = b.create<arith::MinSIOp>(loc, add(left, 1), last);
    Value leftItem = load(left), rightItem = load(right);
    Value isRight = goesAfter(rightItem, leftItem);
    Value child = select(isRight, right, left), childItem = select(isRight, rightItem, leftItem);
    b.create<scf::ConditionOp>(loc, both(exists, goesAfter(childItem, item)),
                               ValueRange{hole, child, childItem});
  }
  {
    OpBuilder::InsertionGuard guard(b);
    BodyEmitter::Scope scope(emitter);
    Block *body = b.createBlock(&loop.getAfter(), {}, {i64, i64, item.getType()}, {loc, loc, loc});
    store(body->getArgument(0), body->getArgument(2));
    b.create<scf::YieldOp>(loc, ValueRange{body->getArgument(1)});
  }
  store(loop.getResult(0), item);
}

void HeapSort::emit(ValueRange results) {
  for (auto [i, result] : llvm::enumerate(results))
    if (result == op.getIndices()) {
      ofIndices = true;
      output = static_cast<unsigned>(i);
    }
  auto forAll = [&](int64_t count, function_ref<void(Value)> body) {
    forLoop(emitter, index.constant(0), index.constant(count), 1, body);
  };
  forAll(extent,
         [&](Value i) { store(i, ofIndices ? i : emitter.element(op.getOperand(), place(i))); });
  // From the last item that has children to the first: a heap. Then its first item, which goes
  // last, changes places with its last, again and again.
  int64_t parents = extent / 2;
  forAll(parents, [&](Value i) {
    Value root = b.create<arith::SubIOp>(loc, index.constant(parents - 1), i);
    sift(root, index.constant(extent), load(root));
  });
  forAll(extent - 1, [&](Value i) {
    Value end = b.create<arith::SubIOp>(loc, index.constant(extent - 1), i);
    Value item = load(end);
    store(end, load(index.constant(0)));
    sift(index.constant(0), end, item);
  });
  for (auto [i, result] : llvm::enumerate(results))
    if (ofIndices && result == op.getValues())
      forAll(extent, [&](Value at) {
        Value value = emitter.element(op.getOperand(), place(load(at)));
        emitter.store(static_cast<unsigned>(i), place(at), value);
      });
}

} // namespace

void codegen::emitHeapSort(BodyEmitter &emitter, prim::SortOp op, ValueRange results,
                           ArrayRef<AffineExpr> row) {
  HeapSort(emitter, op, row).emit(results);
}
