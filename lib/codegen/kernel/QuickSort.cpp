// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quicksort of the rows of a sort kernel whose elements have at most 32 bits, in place in the
// indices: while a row is sorted, each is a number of 64 bits that has an element's rank among all
// numbers of its type above its index. So no two are equal, and sorting them is stable. Where
// pivots have divided so badly that it took several times the work that good ones take, the rest is
// sorted by heaps: no row takes quadratic work.
#include "codegen/kernel/Sort.h"
#include "ir/prim/Rank.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

/// Fewer items are sorted by insertion.
constexpr int64_t kFew = 24;
/// How much work may be done for each item and each halving of the row; with good pivots it is less
/// than 1.
constexpr int64_t kMostWork = 2;

class QuickSort {
public:
  QuickSort(BodyEmitter &emitter, prim::SortOp op, ValueRange results, ArrayRef<AffineExpr> row)
      : emitter(emitter), b(emitter.builder()), loc(emitter.loc()), index(emitter.indices()),
        op(op), row(row), results(results), along(static_cast<size_t>(op.getDimension())),
        extent(op.getOperand().getType().getShape()[along]),
        logExtent(llvm::Log2_64_Ceil(static_cast<uint64_t>(extent))) {
    for (auto [i, result] : llvm::enumerate(results))
      if (result == op.getIndices())
        output = static_cast<unsigned>(i);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&emitter.getFunction().getBody().front());
    stack = b.create<LLVM::AllocaOp>(loc, LLVM::LLVMPointerType::get(b.getContext()),
                                     b.getI64Type(), number(2 * (logExtent + 2)), 8);
  }

  void emit();

private:
  void pack();
  void unpack();
  void sortParts();
  void insert(Value low, Value high);
  void sortByHeap(Value low, Value high);
  void sift(Value low, Value root, Value size, Value item);
  Value choosePivot(Value low, Value high);
  Value divide(Value low, Value high);

  SmallVector<AffineExpr> place(Value at) {
    SmallVector<AffineExpr> position(row);
    position[along] = index.addSymbol(at, extent);
    return position;
  }
  Value load(Value at) { return emitter.loadOutput(output, place(at)); }
  void store(Value at, Value item) { emitter.store(output, place(at), item); }
  Value stackSlot(Value at) {
    return b.create<LLVM::GEPOp>(loc, stack.getType(), b.getI64Type(), stack,
                                 ArrayRef<LLVM::GEPArg>{at});
  }
  Value loadStack(Value at) { return b.create<LLVM::LoadOp>(loc, b.getI64Type(), stackSlot(at)); }
  void storeStack(Value at, Value x) { b.create<LLVM::StoreOp>(loc, x, stackSlot(at)); }

  Value number(int64_t n) { return b.create<arith::ConstantOp>(loc, b.getI64IntegerAttr(n)); }
  Value add(Value a, Value c) { return b.create<arith::AddIOp>(loc, a, c); }
  Value subtract(Value a, Value c) { return b.create<arith::SubIOp>(loc, a, c); }
  Value half(Value a) { return b.create<arith::ShRUIOp>(loc, a, number(1)); }
  Value select(Value condition, Value a, Value c) {
    return b.create<arith::SelectOp>(loc, condition, a, c);
  }
  Value isLess(Value a, Value c) {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, a, c);
  }
  Value both(Value a, Value c) { return b.create<arith::AndIOp>(loc, a, c); }
  Value count(Value condition) { return b.create<arith::ExtUIOp>(loc, b.getI64Type(), condition); }
  void swap(Value at, Value other) {
    Value x = load(at), y = load(other);
    store(at, y);
    store(other, x);
  }
  /// Loops while `condition` of the carried numbers, which also gives what `body` gets.
  SmallVector<Value>
  loopWhile(ValueRange carried,
            function_ref<std::pair<Value, SmallVector<Value>>(ValueRange)> condition,
            function_ref<SmallVector<Value>(ValueRange)> body);

  BodyEmitter &emitter;
  OpBuilder &b;
  Location loc;
  IndexEmitter &index;
  prim::SortOp op;
  ArrayRef<AffineExpr> row;
  ValueRange results;
  size_t along;
  int64_t extent, logExtent;
  unsigned output = 0;
  Value stack; // of parts to be sorted: where each begins and ends
};

SmallVector<Value>
QuickSort::loopWhile(ValueRange carried,
                     function_ref<std::pair<Value, SmallVector<Value>>(ValueRange)> condition,
                     function_ref<SmallVector<Value>(ValueRange)> body) {
  SmallVector<Type> types(carried.size(), b.getI64Type());
  SmallVector<Location> locations(carried.size(), loc);
  auto loop = b.create<scf::WhileOp>(loc, types, carried);
  auto emit = [&](Region &region, function_ref<void(Block *)> part) {
    OpBuilder::InsertionGuard guard(b);
    BodyEmitter::Scope scope(emitter);
    part(b.createBlock(&region, {}, types, locations));
  };
  emit(loop.getBefore(), [&](Block *block) {
    auto [goesOn, values] = condition(block->getArguments());
    b.create<scf::ConditionOp>(loc, goesOn, values);
  });
  emit(loop.getAfter(),
       [&](Block *block) { b.create<scf::YieldOp>(loc, body(block->getArguments())); });
  return SmallVector<Value>(loop.getResults());
}

void QuickSort::pack() {
  forLoop(emitter, number(0), number(extent), 1, [&](Value i) {
    Value rank = prim::emitRank(b, op, emitter.element(op.getOperand(), place(i)));
    Value high = b.create<arith::ShLIOp>(loc, rank, number(32));
    store(i, b.create<arith::OrIOp>(loc, high, i));
  });
}

void QuickSort::unpack() {
  forLoop(emitter, number(0), number(extent), 1, [&](Value i) {
    Value from = both(load(i), number(0xffffffff));
    for (auto [other, result] : llvm::enumerate(results))
      if (result == op.getValues())
        emitter.store(static_cast<unsigned>(other), place(i),
                      emitter.element(op.getOperand(), place(from)));
    store(i, from);
  });
}

/// Each of the items [low, high) goes before those that are greater.
void QuickSort::insert(Value low, Value high) {
  forLoop(emitter, add(low, number(1)), high, 1, [&](Value i) {
    Value item = load(i);
    SmallVector<Value> hole = loopWhile(
        i,
        [&](ValueRange at) -> std::pair<Value, SmallVector<Value>> {
          // Before the first item there is none: it is compared with itself.
          Value before = b.create<arith::MaxUIOp>(loc, at[0], add(low, number(1)));
          Value greater = isLess(item, load(subtract(before, number(1))));
          return {both(greater, isLess(low, at[0])), {at[0]}};
        },
        [&](ValueRange at) -> SmallVector<Value> {
          Value before = subtract(at[0], number(1));
          store(at[0], load(before));
          return {before};
        });
    store(hole[0], item);
  });
}

/// Puts `item` where it belongs below `root` in the heap of `size` items from `low` on.
void QuickSort::sift(Value low, Value root, Value size, Value item) {
  SmallVector<Value> hole = loopWhile(
      {root, root},
      [&](ValueRange at) -> std::pair<Value, SmallVector<Value>> {
        // The greater of two children; where there is none, any item is compared.
        Value last = subtract(size, number(1));
        Value left = add(add(at[0], at[0]), number(1)), exists = isLess(left, size);
        left = b.create<arith::MinUIOp>(loc, left, last);
        Value right = b.create<arith::MinUIOp>(loc, add(left, number(1)), last);
        Value x = load(add(low, left)), y = load(add(low, right)), isRight = isLess(x, y);
        Value greater = isLess(item, select(isRight, y, x));
        return {both(exists, greater), {at[0], select(isRight, right, left)}};
      },
      [&](ValueRange at) -> SmallVector<Value> {
        store(add(low, at[0]), load(add(low, at[1])));
        return {at[1], at[1]};
      });
  store(add(low, hole[0]), item);
}

void QuickSort::sortByHeap(Value low, Value high) {
  Value size = subtract(high, low), parents = half(size);
  forLoop(emitter, number(0), parents, 1, [&](Value i) {
    Value root = subtract(subtract(parents, number(1)), i);
    sift(low, root, size, load(add(low, root)));
  });
  forLoop(emitter, number(1), size, 1, [&](Value i) {
    Value rest = subtract(size, i), end = add(low, rest), item = load(end);
    store(end, load(low));
    sift(low, number(0), rest, item);
  });
}

/// Moves the median of three items of [low, high) to the end, and gives it. They stand where rows
/// that are in order already, rise and fall, or consist of several such parts have good pivots.
Value QuickSort::choosePivot(Value low, Value high) {
  Value last = subtract(high, number(1)), quarter = half(half(subtract(high, low)));
  Value first = add(low, quarter), third = subtract(last, quarter);
  Value second = add(low, half(subtract(high, low)));
  Value x = load(first), y = load(second), z = load(third);
  Value xy = isLess(x, y), yz = isLess(y, z), xz = isLess(x, z);
  auto equal = [&](Value a, Value c) -> Value {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, a, c);
  };
  Value at = select(equal(xy, yz), second, select(equal(xy, xz), third, first));
  Value pivot = load(at);
  store(at, load(last));
  store(last, pivot);
  return pivot;
}

/// Brings items that are less than the pivot before the others; gives the place of the pivot
/// between them. No branch depends on what is compared.
Value QuickSort::divide(Value low, Value high) {
  Value pivot = choosePivot(low, high), last = subtract(high, number(1));
  // Those before `end` are less, those from there on are not.
  SmallVector<Value> end =
      forLoop(emitter, low, last, 1, low, [&](Value i, ValueRange in) -> SmallVector<Value> {
        Value item = load(i);
        store(i, load(in[0]));
        store(in[0], item);
        return {add(in[0], count(isLess(item, pivot)))};
      });
  swap(end[0], last);
  return end[0];
}

void QuickSort::sortParts() {
  storeStack(number(0), number(0));
  storeStack(number(1), number(extent));
  loopWhile(
      {number(2), number(0)}, // numbers on the stack, items divided
      [&](ValueRange in) -> std::pair<Value, SmallVector<Value>> {
        return {isLess(number(0), in[0]), {in[0], in[1]}};
      },
      [&](ValueRange in) -> SmallVector<Value> {
        Value top = subtract(in[0], number(2));
        Value low = loadStack(top), high = loadStack(add(top, number(1)));
        Value isFew = isLess(subtract(high, low), number(kFew));
        Value isLate = isLess(number(kMostWork * extent * logExtent), in[1]);
        SmallVector<Type> types(2, b.getI64Type());
        auto few = b.create<scf::IfOp>(loc, types, isFew, /*withElseRegion=*/true);
        auto late = scf::IfOp();
        auto inBlock = [&](Block *block, function_ref<SmallVector<Value>()> part) {
          OpBuilder::InsertionGuard guard(b);
          BodyEmitter::Scope scope(emitter);
          b.setInsertionPointToEnd(block);
          SmallVector<Value> next = part();
          b.create<scf::YieldOp>(loc, next);
        };
        inBlock(few.thenBlock(), [&]() -> SmallVector<Value> {
          insert(low, high);
          return {top, in[1]};
        });
        inBlock(few.elseBlock(), [&]() -> SmallVector<Value> {
          late = b.create<scf::IfOp>(loc, types, isLate, /*withElseRegion=*/true);
          inBlock(late.thenBlock(), [&]() -> SmallVector<Value> {
            sortByHeap(low, high);
            return {top, in[1]};
          });
          inBlock(late.elseBlock(), [&]() -> SmallVector<Value> {
            Value pivot = divide(low, high), next = add(pivot, number(1));
            Value left = subtract(pivot, low), right = subtract(high, next);
            // The lesser part is sorted first, so that few wait.
            Value leftLast = isLess(right, left);
            storeStack(top, select(leftLast, low, next));
            storeStack(add(top, number(1)), select(leftLast, pivot, high));
            storeStack(add(top, number(2)), select(leftLast, next, low));
            storeStack(add(top, number(3)), select(leftLast, high, pivot));
            return {add(top, number(4)), add(in[1], subtract(high, low))};
          });
          return SmallVector<Value>(late.getResults());
        });
        return SmallVector<Value>(few.getResults());
      });
}

void QuickSort::emit() {
  pack();
  sortParts();
  unpack();
}

} // namespace

bool codegen::fitsQuickSort(prim::SortOp op, ValueRange results) {
  Type element = BodyEmitter::registerType(op.getOperand().getType().getElementType());
  int64_t extent = op.getOperand().getType().getShape()[op.getDimension()];
  return element.getIntOrFloatBitWidth() <= 32 && extent <= int64_t(1) << 32 &&
         llvm::is_contained(results, op.getIndices());
}

void codegen::emitQuickSort(BodyEmitter &emitter, prim::SortOp op, ValueRange results,
                            ArrayRef<AffineExpr> row) {
  QuickSort(emitter, op, results, row).emit();
}
