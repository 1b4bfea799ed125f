// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quicksort of the rows of a sort kernel, in place in the indices. While a row is sorted, those of
// elements of at most 32 bits are numbers of 64 bits that have an element's rank among all numbers
// of its type above its index. So no two are equal, and sorting them is stable. Where pivots have
// divided so badly that it took several times the work that good ones take, the rest is sorted by
// heaps: no row takes quadratic work.
//
// Of a sort with a range only the elements in it are sorted, once they are found: the first few by
// a heap that keeps them while it goes through the row, unless the row has them so far behind that
// the heap changes too often. Of other ranges a short row is sorted in memory of the function's
// own, but for the parts that no element of the range is in (a quickselect); in long rows they are
// found as Selection.cpp does it.
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
/// How much work a heap may be for each element of a row of which it keeps the first ones: the
/// levels that items go down when others take their place.
constexpr int64_t kMostHeapWork = 2;
/// Rows of up to so many elements are sorted in memory of the function's own, 64 KB.
constexpr int64_t kMostHeld = 8192;

class QuickSort {
public:
  QuickSort(BodyEmitter &emitter, prim::SortOp op, ValueRange results, ArrayRef<AffineExpr> row)
      : emitter(emitter), b(emitter.builder()), loc(emitter.loc()), index(emitter.indices()),
        op(op), row(row), results(results), along(static_cast<size_t>(op.getDimension())),
        extent(op.getExtent()), count(op.getCount()),
        keepsFirst(count < extent && op.getFirst() == 0 &&
                   expectedHeapWork() <= kMostHeapWork * extent),
        isHeld(count < extent && !keepsFirst && extent <= kMostHeld),
        items(isHeld ? extent : count), logItems(logOf(items)) {
    Type element = BodyEmitter::registerType(op.getOperand().getType().getElementType());
    isPacked = prim::rankBits(element) <= 32 && extent <= int64_t(1) << 32;
    for (auto [i, result] : llvm::enumerate(results))
      if (result == op.getIndices())
        output = static_cast<unsigned>(i);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&emitter.getFunction().getBody().front());
    auto allocate = [&](int64_t numbers) {
      return b.create<LLVM::AllocaOp>(loc, LLVM::LLVMPointerType::get(b.getContext()),
                                      b.getI64Type(), number(numbers), 8);
    };
    stack = allocate(2 * (logItems + 2));
    if (isHeld)
      held = allocate(items);
  }

  void emit();

private:
  Value rankOf(Value i);
  Value itemOf(Value i);
  Value indexOf(Value item);
  Value precedes(Value item, Value other);
  void fill();
  void takeRange();
  int64_t expectedHeapWork() const;
  Value keepFirst();
  void unpack();
  void sortParts();
  void insert(Value low, Value high);
  void makeHeap(Value low, Value size);
  void sortByHeap(Value low, Value high);
  void sift(Value low, Value root, Value size, Value item);
  Value choosePivot(Value low, Value high);
  Value divide(Value low, Value high);

  SmallVector<AffineExpr> positionOf(Value at, int64_t bound) {
    SmallVector<AffineExpr> position(row);
    position[along] = index.addSymbol(at, bound);
    return position;
  }
  Value element(Value i) { return emitter.element(op.getOperand(), positionOf(i, extent)); }
  Value load(Value at) {
    return isHeld ? loadFrom(held, at) : emitter.loadOutput(output, positionOf(at, count));
  }
  void store(Value at, Value item) {
    if (isHeld)
      storeTo(held, at, item);
    else
      emitter.store(output, positionOf(at, count), item);
  }
  Value slot(Value memory, Value at) {
    return b.create<LLVM::GEPOp>(loc, memory.getType(), b.getI64Type(), memory,
                                 ArrayRef<LLVM::GEPArg>{at});
  }
  Value loadFrom(Value memory, Value at) {
    return b.create<LLVM::LoadOp>(loc, b.getI64Type(), slot(memory, at));
  }
  void storeTo(Value memory, Value at, Value x) {
    b.create<LLVM::StoreOp>(loc, x, slot(memory, at));
  }
  static int64_t logOf(int64_t n) {
    return static_cast<int64_t>(llvm::Log2_64_Ceil(static_cast<uint64_t>(n)));
  }

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
  Value asNumber(Value condition) {
    return b.create<arith::ExtUIOp>(loc, b.getI64Type(), condition);
  }
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
  /// The numbers that `body` gives where the condition holds, else those of `otherwise`.
  SmallVector<Value> choose(size_t numbers, Value condition,
                            function_ref<SmallVector<Value>()> body,
                            function_ref<SmallVector<Value>()> otherwise);

  BodyEmitter &emitter;
  OpBuilder &b;
  Location loc;
  IndexEmitter &index;
  prim::SortOp op;
  ArrayRef<AffineExpr> row;
  ValueRange results;
  size_t along;
  int64_t extent, count; // elements of the operand's row, and of the results'
  bool keepsFirst;       // by a heap
  bool isHeld;           // the row's items are in memory of the function's own, else in the indices
  int64_t items, logItems; // that are sorted
  bool isPacked = false;   // an item has the rank above the index
  unsigned output = 0;
  Value held;
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

SmallVector<Value> QuickSort::choose(size_t numbers, Value condition,
                                     function_ref<SmallVector<Value>()> body,
                                     function_ref<SmallVector<Value>()> otherwise) {
  SmallVector<Type> types(numbers, b.getI64Type());
  auto branches = b.create<scf::IfOp>(loc, types, condition, /*withElseRegion=*/true);
  auto emit = [&](Block *block, function_ref<SmallVector<Value>()> part) {
    OpBuilder::InsertionGuard guard(b);
    BodyEmitter::Scope scope(emitter);
    b.setInsertionPointToEnd(block);
    SmallVector<Value> values = part();
    b.create<scf::YieldOp>(loc, values);
  };
  emit(branches.thenBlock(), body);
  emit(branches.elseBlock(), otherwise);
  return SmallVector<Value>(branches.getResults());
}

// ---- items ----

Value QuickSort::rankOf(Value i) { return prim::emitRank(b, op, element(i)); }

Value QuickSort::itemOf(Value i) {
  if (!isPacked)
    return i;
  return b.create<arith::OrIOp>(loc, b.create<arith::ShLIOp>(loc, rankOf(i), number(32)), i);
}

Value QuickSort::indexOf(Value item) { return isPacked ? both(item, number(0xffffffff)) : item; }

Value QuickSort::precedes(Value item, Value other) {
  if (isPacked)
    return isLess(item, other);
  Value x = rankOf(item), y = rankOf(other);
  Value isEqual = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, x, y);
  return select(isEqual, isLess(item, other), isLess(x, y));
}

/// Stores the items that are to be sorted.
void QuickSort::fill() {
  if (items == extent)
    forLoop(emitter, number(0), number(extent), 1, [&](Value i) { store(i, itemOf(i)); });
  else if (keepsFirst)
    branch(emitter, isLess(keepFirst(), number(extent)), [&] { takeRange(); });
  else
    takeRange();
}

void QuickSort::takeRange() {
  emitSelection(emitter, op, row, [&](Value at, Value i) { store(at, itemOf(i)); });
}

/// Of rows in no order: after i elements one in i / count is among the first.
int64_t QuickSort::expectedHeapWork() const { return count * logOf(extent / count) * logOf(count); }

/// The items that go first, as a heap: the last of those seen so far is its root, which goes where
/// an earlier one is found. Gives how many elements it has gone through before it became too much
/// work.
Value QuickSort::keepFirst() {
  forLoop(emitter, number(0), number(count), 1, [&](Value i) { store(i, itemOf(i)); });
  makeHeap(number(0), number(count));
  int64_t mostSifts = kMostHeapWork * extent / std::max<int64_t>(1, logItems);
  SmallVector<Value> end = loopWhile(
      {number(count), load(number(0)), number(mostSifts)}, // the next element, the root
      [&](ValueRange in) -> std::pair<Value, SmallVector<Value>> {
        return {both(isLess(in[0], number(extent)), isLess(number(0), in[2])),
                SmallVector<Value>(in)};
      },
      [&](ValueRange in) -> SmallVector<Value> {
        Value item = itemOf(in[0]);
        auto replace = [&]() -> SmallVector<Value> {
          sift(number(0), number(0), number(count), item);
          return {load(number(0)), subtract(in[2], number(1))};
        };
        auto keep = [&]() -> SmallVector<Value> { return {in[1], in[2]}; };
        SmallVector<Value> next = choose(2, precedes(item, in[1]), replace, keep);
        return {add(in[0], number(1)), next[0], next[1]};
      });
  return end[0];
}

/// The results, of the sorted items that are among them.
void QuickSort::unpack() {
  forLoop(emitter, number(0), number(count), 1, [&](Value at) {
    Value from = indexOf(load(isHeld ? add(at, number(op.getFirst())) : at));
    for (auto [other, result] : llvm::enumerate(results))
      if (result == op.getValues())
        emitter.store(static_cast<unsigned>(other), positionOf(at, count), element(from));
    emitter.store(output, positionOf(at, count), from);
  });
}

// ---- sorting ----

/// Each of the items [low, high) goes before those that are greater.
void QuickSort::insert(Value low, Value high) {
  forLoop(emitter, add(low, number(1)), high, 1, [&](Value i) {
    Value item = load(i);
    SmallVector<Value> hole = loopWhile(
        i,
        [&](ValueRange at) -> std::pair<Value, SmallVector<Value>> {
          // Before the first item there is none: it is compared with itself.
          Value before = b.create<arith::MaxUIOp>(loc, at[0], add(low, number(1)));
          Value goesOn = precedes(item, load(subtract(before, number(1))));
          return {both(goesOn, isLess(low, at[0])), {at[0]}};
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
        Value x = load(add(low, left)), y = load(add(low, right)), isRight = precedes(x, y);
        Value goesOn = precedes(item, select(isRight, y, x));
        return {both(exists, goesOn), {at[0], select(isRight, right, left)}};
      },
      [&](ValueRange at) -> SmallVector<Value> {
        store(add(low, at[0]), load(add(low, at[1])));
        return {at[1], at[1]};
      });
  store(add(low, hole[0]), item);
}

/// Makes a heap of `size` items from `low` on.
void QuickSort::makeHeap(Value low, Value size) {
  Value parents = half(size);
  forLoop(emitter, number(0), parents, 1, [&](Value i) {
    Value root = subtract(subtract(parents, number(1)), i);
    sift(low, root, size, load(add(low, root)));
  });
}

void QuickSort::sortByHeap(Value low, Value high) {
  Value size = subtract(high, low);
  makeHeap(low, size);
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
  Value xy = precedes(x, y), yz = precedes(y, z), xz = precedes(x, z);
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
        return {add(in[0], asNumber(precedes(item, pivot)))};
      });
  swap(end[0], last);
  return end[0];
}

void QuickSort::sortParts() {
  storeTo(stack, number(0), number(0));
  storeTo(stack, number(1), number(items));
  loopWhile(
      {number(2), number(0)}, // numbers on the stack, items divided
      [&](ValueRange in) -> std::pair<Value, SmallVector<Value>> {
        return {isLess(number(0), in[0]), {in[0], in[1]}};
      },
      [&](ValueRange in) -> SmallVector<Value> {
        Value top = subtract(in[0], number(2));
        Value low = loadFrom(stack, top), high = loadFrom(stack, add(top, number(1)));
        Value isFew = isLess(subtract(high, low), number(kFew));
        Value isLate = isLess(number(kMostWork * items * logItems), in[1]);
        auto insertAll = [&]() -> SmallVector<Value> {
          insert(low, high);
          return {top, in[1]};
        };
        auto heapAll = [&]() -> SmallVector<Value> {
          sortByHeap(low, high);
          return {top, in[1]};
        };
        auto divideThem = [&]() -> SmallVector<Value> {
          Value pivot = divide(low, high), next = add(pivot, number(1));
          Value left = subtract(pivot, low), right = subtract(high, next);
          // The lesser part is sorted first, so that few wait.
          Value leftLast = isLess(right, left);
          storeTo(stack, top, select(leftLast, low, next));
          storeTo(stack, add(top, number(1)), select(leftLast, pivot, high));
          storeTo(stack, add(top, number(2)), select(leftLast, next, low));
          storeTo(stack, add(top, number(3)), select(leftLast, high, pivot));
          return {add(top, number(4)), add(in[1], subtract(high, low))};
        };
        auto sort = [&] {
          return choose(2, isFew, insertAll,
                        [&] { return choose(2, isLate, heapAll, divideThem); });
        };
        if (items == count)
          return sort();
        Value isWanted =
            both(isLess(low, number(op.getEnd())), isLess(number(op.getFirst()), high));
        return choose(2, isWanted, sort, [&]() -> SmallVector<Value> { return {top, in[1]}; });
      });
}

void QuickSort::emit() {
  fill();
  sortParts();
  unpack();
}

} // namespace

void codegen::emitQuickSort(BodyEmitter &emitter, prim::SortOp op, ValueRange results,
                            ArrayRef<AffineExpr> row) {
  QuickSort(emitter, op, results, row).emit();
}
