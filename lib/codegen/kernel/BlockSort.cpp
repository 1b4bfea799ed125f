// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bitonic sort of the rows of a sort kernel, a row in the shared memory of a block. Every exchange
// brings the lesser element to the lower place, so that a row of any length is sorted: what is
// missing up to the next power of two would go last, and stay there.
#include "codegen/kernel/Sort.h"

#include "support/TensorBytes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

class BlockSort {
public:
  BlockSort(BodyEmitter &emitter, prim::SortOp op, ArrayRef<AffineExpr> row)
      : emitter(emitter), b(emitter.builder()), loc(emitter.loc()), index(emitter.indices()),
        op(op), row(row), along(static_cast<size_t>(op.getDimension())),
        extent(op.getOperand().getType().getShape()[along]),
        logExtent(llvm::Log2_64_Ceil(static_cast<uint64_t>(extent))),
        element(BodyEmitter::registerType(op.getOperand().getType().getElementType())) {
    const KernelTarget &target = emitter.target();
    func::FuncOp function = emitter.getFunction();
    lanes = target.setBlock(function, (int64_t(1) << logExtent) / 2);
    keys = {target.createShared(b, function, element, extent), element};
    places = {target.createShared(b, function, b.getI32Type(), extent), b.getI32Type()};
    lane = target.getLane(b, function);
  }

  /// Of the row in which the loop variables are.
  void emit(ValueRange results);

private:
  struct Shared {
    Value pointer;
    Type type;
  };
  struct Item {
    Value key, place; // the place that it had, an i64
  };
  Value address(Shared memory, Value at) {
    return b.create<LLVM::GEPOp>(loc, memory.pointer.getType(), memory.type, memory.pointer,
                                 ArrayRef<LLVM::GEPArg>{at});
  }
  Item load(Value at);
  void store(Value at, Item item);
  Value goesAfter(Item a, Item c);
  void exchange(Value low, Value high);
  void pass(Value log, bool flipped);
  /// For each number less than `count`; the lanes take turns.
  void forEach(int64_t count, function_ref<void(Value)> body) {
    forLoop(emitter, lane, index.constant(count), lanes, body);
  }
  void wait() { emitter.target().synchronize(b, loc); }
  SmallVector<AffineExpr> positionOf(Value at) {
    SmallVector<AffineExpr> position(row);
    position[along] = index.addSymbol(at, extent);
    return position;
  }
  Value number(int64_t n) { return index.constant(n); }
  Value add(Value a, Value c) { return b.create<arith::AddIOp>(loc, a, c); }
  Value subtract(Value a, Value c) { return b.create<arith::SubIOp>(loc, a, c); }
  Value shiftLeft(Value a, Value c) { return b.create<arith::ShLIOp>(loc, a, c); }

  BodyEmitter &emitter;
  OpBuilder &b;
  Location loc;
  IndexEmitter &index;
  prim::SortOp op;
  ArrayRef<AffineExpr> row;
  size_t along;
  int64_t extent;
  unsigned logExtent; // of the next power of two
  Type element;
  int64_t lanes = 0;
  Shared keys, places;
  Value lane;
};

BlockSort::Item BlockSort::load(Value at) {
  Value key = b.create<LLVM::LoadOp>(loc, keys.type, address(keys, at));
  Value place = b.create<LLVM::LoadOp>(loc, places.type, address(places, at));
  return {key, b.create<arith::ExtUIOp>(loc, b.getI64Type(), place)};
}

void BlockSort::store(Value at, Item item) {
  b.create<LLVM::StoreOp>(loc, item.key, address(keys, at));
  b.create<LLVM::StoreOp>(loc, b.create<arith::TruncIOp>(loc, places.type, item.place),
                          address(places, at));
}

/// Equal elements keep their order.
Value BlockSort::goesAfter(Item a, Item c) {
  Value yes = b.create<arith::ConstantOp>(loc, b.getBoolAttr(true));
  Value notBefore = b.create<arith::XOrIOp>(loc, op.emitPrecedes(b, a.key, c.key), yes);
  Value later = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ugt, a.place, c.place);
  return b.create<arith::OrIOp>(loc, op.emitPrecedes(b, c.key, a.key),
                                b.create<arith::AndIOp>(loc, notBefore, later));
}

void BlockSort::exchange(Value low, Value high) {
  Value exists = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, high, number(extent));
  branch(emitter, exists, [&] {
    Item first = load(low), second = load(high);
    branch(emitter, goesAfter(first, second), [&] {
      store(low, second);
      store(high, first);
    });
  });
}

/// Compares the halves of pieces of 2^log elements: each element of the first with that of the
/// second at the same place or, `flipped`, at the same place from the end.
void BlockSort::pass(Value log, bool flipped) {
  int64_t pairs = (int64_t(1) << logExtent) / 2;
  forEach(pairs, [&](Value pair) {
    Value logHalf = subtract(log, number(1)), half = shiftLeft(number(1), logHalf);
    Value piece = shiftLeft(b.create<arith::ShRUIOp>(loc, pair, logHalf), log);
    Value at = b.create<arith::AndIOp>(loc, pair, subtract(half, number(1)));
    Value low = add(piece, at), high;
    if (flipped)
      high = subtract(add(piece, subtract(shiftLeft(half, number(1)), number(1))), at);
    else
      high = add(low, half);
    exchange(low, high);
  });
  wait();
}

void BlockSort::emit(ValueRange results) {
  forEach(extent, [&](Value i) { store(i, {emitter.element(op.getOperand(), positionOf(i)), i}); });
  wait();
  // Sorted pieces of 2, 4, ... elements.
  forLoop(emitter, number(1), number(logExtent + 1), 1, [&](Value log) {
    pass(log, /*flipped=*/true);
    forLoop(emitter, number(1), log, 1,
            [&](Value less) { pass(subtract(log, less), /*flipped=*/false); });
  });
  forEach(op.getCount(), [&](Value i) {
    Item item = load(add(i, number(op.getFirst())));
    for (auto [output, result] : llvm::enumerate(results))
      emitter.store(static_cast<unsigned>(output), positionOf(i),
                    result == op.getValues() ? item.key : item.place);
  });
}

} // namespace

bool codegen::fitsBlock(prim::SortOp op, const KernelTarget &target) {
  RankedTensorType type = op.getOperand().getType();
  int64_t extent = type.getDimSize(static_cast<unsigned>(op.getDimension()));
  auto place = static_cast<int64_t>(sizeof(int32_t));
  return extent <= target.getBlockLimits().sharedBytes / (elementBytes(type) + place);
}

int64_t codegen::emitBlockSort(BodyEmitter &emitter, prim::SortOp op, ValueRange results,
                               const Lines &lines) {
  BlockSort sort(emitter, op, lines.position);
  OpBuilder &b = emitter.builder();
  auto [task, last] = emitter.tasks(lines.count);
  Value number = task;
  Value isTask = b.create<arith::CmpIOp>(emitter.loc(), arith::CmpIPredicate::slt, number, last);
  branch(emitter, isTask, [&] {
    lines.enter(number);
    sort.emit(results);
  });
  return lines.count;
}
