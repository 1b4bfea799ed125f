// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the elements of a row that come to some places of the sorted row, without sorting it and
// without memory for it. The rank of the one that comes to a place is found digit by digit, from
// the highest on: how many elements have each value of the digit, of those that agree in the digits
// before it (a radix selection). Then one pass takes the elements between the first and the last
// place; of equal ones, which keep their order, some may be outside.
#include "codegen/kernel/Sort.h"
#include "ir/prim/Rank.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

constexpr int64_t kDigitBits = 8, kDigits = int64_t(1) << kDigitBits;

/// The element at a place of the sorted row: its rank, and how many of equal rank go before it.
struct Bound {
  Value rank, earlier;
};

class Selection {
public:
  Selection(BodyEmitter &emitter, prim::SortOp op, ArrayRef<AffineExpr> row)
      : emitter(emitter), b(emitter.builder()), loc(emitter.loc()), op(op), row(row) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&emitter.getFunction().getBody().front());
    counters = b.create<LLVM::AllocaOp>(loc, LLVM::LLVMPointerType::get(b.getContext()),
                                        b.getI64Type(), number(kDigits + 1), 8);
  }

  void emit(function_ref<void(Value, Value)> take);

private:
  Bound find(int64_t place);
  void countDigits(Value prefix, Value shift);
  std::pair<Value, Value> findDigit(Value place);
  Value isWithin(Value rank, const Bound &bound, Value equals, bool isLast);

  Value rankOf(Value i) {
    SmallVector<AffineExpr> position(row);
    position[op.getDimension()] = emitter.indices().addSymbol(i, op.getExtent());
    return prim::emitRank(b, op, emitter.element(op.getOperand(), position));
  }
  Value counter(Value digit) {
    return b.create<LLVM::GEPOp>(loc, counters.getType(), b.getI64Type(), counters,
                                 ArrayRef<LLVM::GEPArg>{digit});
  }
  Value loadCounter(Value digit) {
    return b.create<LLVM::LoadOp>(loc, b.getI64Type(), counter(digit));
  }
  Value number(int64_t n) { return b.create<arith::ConstantOp>(loc, b.getI64IntegerAttr(n)); }
  Value add(Value a, Value c) { return b.create<arith::AddIOp>(loc, a, c); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value c) {
    return b.create<arith::CmpIOp>(loc, predicate, a, c);
  }
  Value asNumber(Value condition) {
    return b.create<arith::ExtUIOp>(loc, b.getI64Type(), condition);
  }

  BodyEmitter &emitter;
  OpBuilder &b;
  Location loc;
  prim::SortOp op;
  ArrayRef<AffineExpr> row;
  Value counters; // an element for each value of a digit, and one that counts for nothing
};

/// Counts the digit at `shift` of the ranks that agree with `prefix` above it; below, that is 0.
void Selection::countDigits(Value prefix, Value shift) {
  forLoop(emitter, number(0), number(kDigits), 1,
          [&](Value digit) { b.create<LLVM::StoreOp>(loc, number(0), counter(digit)); });
  forLoop(emitter, number(0), number(op.getExtent()), 1, [&](Value i) {
    Value difference = b.create<arith::XOrIOp>(loc, rankOf(i), prefix);
    Value digit = b.create<arith::ShRUIOp>(loc, difference, shift);
    // Others have a counter of their own: nobody could predict a branch around it.
    digit = b.create<arith::MinUIOp>(loc, digit, number(kDigits));
    b.create<LLVM::StoreOp>(loc, add(loadCounter(digit), number(1)), counter(digit));
  });
}

/// The digit of what is at `place` among those that are counted, and the place among those that
/// have this digit.
std::pair<Value, Value> Selection::findDigit(Value place) {
  SmallVector<Type> types(2, b.getI64Type());
  auto loop = b.create<scf::WhileOp>(
      loc, types, ValueRange{number(0), place},
      [&](OpBuilder &, Location, ValueRange in) {
        Value isBehind = compare(arith::CmpIPredicate::ule, loadCounter(in[0]), in[1]);
        b.create<scf::ConditionOp>(loc, isBehind, in);
      },
      [&](OpBuilder &, Location, ValueRange in) {
        Value rest = b.create<arith::SubIOp>(loc, in[1], loadCounter(in[0]));
        b.create<scf::YieldOp>(loc, ValueRange{add(in[0], number(1)), rest});
      });
  return {loop.getResult(0), loop.getResult(1)};
}

Bound Selection::find(int64_t place) {
  int64_t bits =
      prim::rankBits(BodyEmitter::registerType(op.getOperand().getType().getElementType()));
  SmallVector<Value> found = forLoop(
      emitter, number(1), number(bits / kDigitBits + 1), 1, {number(0), number(place)},
      [&](Value step, ValueRange in) -> SmallVector<Value> {
        Value done = b.create<arith::MulIOp>(loc, step, number(kDigitBits));
        Value shift = b.create<arith::SubIOp>(loc, number(bits), done);
        countDigits(in[0], shift);
        auto [digit, rest] = findDigit(in[1]);
        return {b.create<arith::OrIOp>(loc, in[0], b.create<arith::ShLIOp>(loc, digit, shift)),
                rest};
      });
  return {found[0], found[1]};
}

/// Whether an element of this rank is not before the first one (or not behind the last one), where
/// the row has had so many of the bound's rank before it.
Value Selection::isWithin(Value rank, const Bound &bound, Value equals, bool isLast) {
  using enum arith::CmpIPredicate;
  Value isEqual = compare(eq, rank, bound.rank);
  Value isInside = compare(isLast ? ult : ugt, rank, bound.rank);
  Value isInOrder = compare(isLast ? ule : uge, equals, bound.earlier);
  return b.create<arith::SelectOp>(loc, isEqual, isInOrder, isInside);
}

void Selection::emit(function_ref<void(Value, Value)> take) {
  SmallVector<std::pair<Bound, bool>> bounds; // and whether it is the last
  if (op.getFirst() > 0)
    bounds.push_back({find(op.getFirst()), false});
  if (op.getCount() == 1 && !bounds.empty())
    bounds.push_back({bounds.front().first, true});
  else if (op.getEnd() < op.getExtent())
    bounds.push_back({find(op.getEnd() - 1), true});
  // How many are taken, and how many had each bound's rank.
  SmallVector<Value> counts(bounds.size() + 1, number(0));
  forLoop(emitter, number(0), number(op.getExtent()), 1, counts,
          [&](Value i, ValueRange in) -> SmallVector<Value> {
            Value rank = rankOf(i), isTaken;
            SmallVector<Value> next(in);
            for (auto [k, bound] : llvm::enumerate(bounds)) {
              Value within = isWithin(rank, bound.first, in[k + 1], bound.second);
              isTaken = isTaken ? b.create<arith::AndIOp>(loc, isTaken, within) : within;
              Value isEqual = compare(arith::CmpIPredicate::eq, rank, bound.first.rank);
              next[k + 1] = add(in[k + 1], asNumber(isEqual));
            }
            branch(emitter, isTaken, [&] { take(in[0], i); });
            next[0] = add(in[0], asNumber(isTaken));
            return next;
          });
}

} // namespace

void codegen::emitSelection(BodyEmitter &emitter, prim::SortOp op, ArrayRef<AffineExpr> row,
                            function_ref<void(Value at, Value i)> take) {
  Selection(emitter, op, row).emit(take);
}
