// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/kernel/MatrixLoops.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

Value MatrixLoops::firstOf(Lanes among, Value low) {
  return among.lane ? add(low, among.lane) : low;
}

Value MatrixLoops::foldOf(Lanes among, Value low, Value high, Value initial, Step step) {
  return forLoop(emitter, firstOf(among, low), high, among.count, ValueRange{initial},
                 [&](Value i, ValueRange in) -> SmallVector<Value> { return {step(i, in[0])}; })
      .front();
}

void MatrixLoops::repeat(int64_t most, function_ref<Value()> body) {
  fold(number(0), number(most), boolean(true), [&](Value, Value again) -> Value {
    auto op = b.create<scf::IfOp>(loc, TypeRange{b.getI1Type()}, again, /*withElseRegion=*/true);
    auto emit = [&](Block *block, function_ref<Value()> part) {
      OpBuilder::InsertionGuard guard(b);
      BodyEmitter::Scope scope(emitter);
      b.setInsertionPointToStart(block);
      b.create<scf::YieldOp>(loc, part());
    };
    emit(op.thenBlock(), body);
    emit(op.elseBlock(), [&] { return boolean(false); });
    return op.getResult(0);
  });
}

void MatrixLoops::forOwn(Lanes among, Value low, Value high, Body body) {
  forLoop(emitter, firstOf(among, low), high, among.count, body);
}

std::pair<Lanes, Lanes> MatrixLoops::inRows(int64_t columns) {
  if (!all.lane)
    return {};
  int64_t width =
      std::min(all.count, static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(columns))));
  Value row = b.create<arith::ShRUIOp>(loc, all.lane, number(llvm::Log2_64(width)));
  Value column = b.create<arith::AndIOp>(loc, all.lane, number(width - 1));
  return {{row, all.count / width}, {column, width}};
}

void MatrixLoops::once(function_ref<void()> body) {
  if (all.lane)
    branch(emitter, isSame(all.lane, number(0)), body);
  else
    body();
  wait();
}

void MatrixLoops::wait() {
  if (all.lane)
    emitter.target().synchronize(b, loc);
}

SmallVector<AffineExpr> MatrixLoops::position(ValueRange at, ArrayRef<int64_t> shape) {
  IndexEmitter &index = emitter.indices();
  SmallVector<AffineExpr> result = {index.dim(0)};
  for (auto [i, extent] : llvm::zip(at, shape.drop_front()))
    result.push_back(index.addSymbol(i, extent));
  return result;
}

Value MatrixLoops::read(Value tensor, ValueRange at) {
  return emitter.element(tensor, position(at, cast<RankedTensorType>(tensor.getType()).getShape()));
}

Value MatrixLoops::load(unsigned output, ValueRange at) {
  return emitter.loadOutput(output, position(at, emitter.outputType(output).getShape()));
}

void MatrixLoops::store(unsigned output, ValueRange at, Value value) {
  emitter.store(output, position(at, emitter.outputType(output).getShape()), value);
}

Value MatrixLoops::checked(Value i, int64_t bound, StringRef message) {
  return emitter.indices().evaluate(emitter.symbol(i, bound, message)).base;
}

double MatrixLoops::epsilon() const {
  return element.isF64() ? std::numeric_limits<double>::epsilon()
                         : std::numeric_limits<float>::epsilon();
}

Value MatrixLoops::absolute(Value a) { return b.create<math::AbsFOp>(loc, a); }

Value MatrixLoops::squareRoot(Value a) { return b.create<math::SqrtOp>(loc, a); }

Value MatrixLoops::exponential(Value a) { return b.create<math::ExpOp>(loc, a); }

Value MatrixLoops::logarithm(Value a) { return b.create<math::LogOp>(loc, a); }

Value MatrixLoops::withSign(Value a, Value c) { return b.create<math::CopySignOp>(loc, a, c); }

// The sum of a row is as many sums as a vector has lanes: LLVM may choose the order.
Value MatrixLoops::sumOf(Lanes among, Value low, Value high, function_ref<Value(Value)> term) {
  auto inAnyOrder = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::reassoc);
  return foldOf(among, low, high, real(0), [&](Value i, Value sum) -> Value {
    return b.create<arith::AddFOp>(loc, sum, term(i), inAnyOrder);
  });
}

Value MatrixLoops::sharedSum(Value low, Value high, function_ref<Value(Value)> term) {
  Value own = sumOf(all, low, high, term);
  if (!all.lane)
    return own;
  return emitter.target().combineLanes(emitter, own, [&](Value a, Value c) { return plus(a, c); });
}

Value MatrixLoops::sharedBest(Value low, Value high, Value initial,
                              function_ref<Value(Value, Value)> isBetter) {
  Value own = foldOf(all, low, high, initial,
                     [&](Value i, Value best) { return select(isBetter(i, best), i, best); });
  if (!all.lane)
    return own;
  // Of equals a lane has its own first.
  return emitter.target().combineLanes(emitter, own, [&](Value a, Value c) {
    Value isFirst = b.create<arith::AndIOp>(
        loc, isBefore(c, a), b.create<arith::XOrIOp>(loc, isBetter(a, c), boolean(true)));
    return select(either(isBetter(c, a), isFirst), c, a);
  });
}
