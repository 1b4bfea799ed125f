// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the threads of a task have of each other: by shuffles in a warp, by shared memory in a
// block.
#include "codegen/cuda/CudaKernels.h"
#include "codegen/cuda/Lanes.h"
#include "codegen/kernel/Domain.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

/// `value` as an integer of at least 8 bits, and back.
static Value toInteger(OpBuilder &b, Location loc, Value value) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type))
    return b.create<arith::BitcastOp>(loc, b.getIntegerType(bits), value);
  return bits < 8 ? Value(b.create<arith::ExtUIOp>(loc, b.getI8Type(), value)) : value;
}

static Value fromInteger(OpBuilder &b, Location loc, Value word, Type type) {
  if (isa<FloatType>(type))
    return b.create<arith::BitcastOp>(loc, type, word);
  return word.getType() == type ? word : b.create<arith::TruncIOp>(loc, type, word);
}

/// The threads of the warp that share a task of `lanes` lanes, as a mask.
static Value membersOf(OpBuilder &b, Location loc, int64_t lanes) {
  Type i32 = b.getI32Type();
  if (lanes >= kWarp)
    return b.create<arith::ConstantIntOp>(loc, -1, 32);
  Value first =
      b.create<arith::AndIOp>(loc, laneOf(b, loc, kWarp), constant(b, loc, kWarp - lanes));
  return b.create<arith::ShLIOp>(loc,
                                 b.create<arith::ConstantIntOp>(loc, (int64_t(1) << lanes) - 1, 32),
                                 b.create<arith::TruncIOp>(loc, i32, first));
}

/// The value of another thread, one of `members`: of that whose number differs in the bits of
/// `which` (an i32), is less by it (up), or is `which` (idx). Registers of a shuffle have 32 bits.
static Value shuffle(OpBuilder &b, Location loc, Value members, Value value, Value which,
                     NVVM::ShflKind kind) {
  Type i32 = b.getI32Type();
  // The last thread that may be asked; going up, the first.
  Value limit = b.create<arith::ConstantIntOp>(loc, kind == NVVM::ShflKind::up ? 0 : kWarp - 1, 32);
  auto exchange = [&](Value word) -> Value {
    return b.create<NVVM::ShflOp>(loc, i32, members, word, which, limit, kind, UnitAttr());
  };
  Value word = toInteger(b, loc, value);
  Type integer = word.getType();
  unsigned bits = integer.getIntOrFloatBitWidth();
  if (bits == 64) {
    Value high = b.create<arith::ShRUIOp>(loc, word, constant(b, loc, 32));
    auto half = [&](Value v) -> Value {
      return b.create<arith::ExtUIOp>(loc, integer,
                                      exchange(b.create<arith::TruncIOp>(loc, i32, v)));
    };
    Value upper = b.create<arith::ShLIOp>(loc, half(high), constant(b, loc, 32));
    word = b.create<arith::OrIOp>(loc, upper, half(word));
  } else if (bits == 32) {
    word = exchange(word);
  } else {
    word = exchange(b.create<arith::ExtUIOp>(loc, i32, word));
    word = b.create<arith::TruncIOp>(loc, integer, word);
  }
  return fromInteger(b, loc, word, value.getType());
}

static Value shuffle(OpBuilder &b, Location loc, Value members, Value value, int64_t distance,
                     NVVM::ShflKind kind = NVVM::ShflKind::bfly) {
  return shuffle(b, loc, members, value, b.create<arith::ConstantIntOp>(loc, distance, 32), kind);
}

/// The variable `symbol` in shared memory of a block, which is made if there is none: `count`
/// elements.
static Value shared(OpBuilder &b, func::FuncOp function, StringRef symbol, Type type,
                    int64_t count) {
  Location loc = function.getLoc();
  constexpr unsigned kShared = 3;
  if (!SymbolTable::lookupNearestSymbolFrom(function, b.getStringAttr(symbol)))
    OpBuilder(function).create<LLVM::GlobalOp>(
        loc, LLVM::LLVMArrayType::get(type, static_cast<unsigned>(count)), /*isConstant=*/false,
        LLVM::Linkage::Internal, symbol, Attribute(),
        /*alignment=*/type.getIntOrFloatBitWidth() / 8, kShared);
  return b.create<LLVM::AddressOfOp>(loc, LLVM::LLVMPointerType::get(b.getContext(), kShared),
                                     symbol);
}

/// Shared memory of a block for `count` integers, the same in the whole function.
static Value getShared(OpBuilder &b, func::FuncOp function, Type integer, int64_t count) {
  unsigned bits = integer.getIntOrFloatBitWidth();
  std::string symbol = (function.getSymName() + ".lanes" + std::to_string(bits)).str();
  return shared(b, function, symbol, integer, count);
}

/// First within each warp, then what these have through shared memory: each lane gets those of some
/// warps, and once more lanes of a warp are combined.
Value CudaKernels::combineLanes(BodyEmitter &emitter, Value value,
                                function_ref<Value(Value, Value)> combine) const {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  func::FuncOp function = emitter.getFunction();
  int64_t lanes = lanesOf(function), columns = columnsOf(function);
  Value members = membersOf(b, loc, lanes);
  auto combineWarp = [&](int64_t count) { // lanes of as many, one after the other
    for (int64_t distance = count / 2; distance >= columns; distance /= 2)
      value = combine(value, shuffle(b, loc, members, value, distance));
  };
  combineWarp(std::min(lanes, kWarp));
  if (lanes <= kWarp)
    return value;

  int64_t warps = lanes / kWarp, together = std::min(warps, kWarp / columns);
  Type type = value.getType(), pointer = LLVM::LLVMPointerType::get(b.getContext(), 3);
  Value word = toInteger(b, loc, value);
  Type integer = word.getType();
  Value shared = getShared(b, function, integer, warps * columns);
  auto address = [&](Value warp) -> Value {
    Value at =
        b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, warp, constant(b, loc, columns)),
                                laneOf(b, loc, columns));
    return b.create<LLVM::GEPOp>(loc, pointer, integer, shared, ArrayRef<LLVM::GEPArg>{at});
  };
  Value lane = laneOf(b, loc, kWarp);
  Value writes =
      b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, lane, constant(b, loc, columns));
  branch(emitter, writes, [&] {
    b.create<LLVM::StoreOp>(loc, word, address(dividedBy(b, loc, laneOf(b, loc, lanes), kWarp)));
  });
  b.create<NVVM::Barrier0Op>(loc);
  Value first = b.create<arith::AndIOp>(loc, dividedBy(b, loc, lane, columns),
                                        constant(b, loc, together - 1));
  for (int64_t warp = 0; warp < warps; warp += together) {
    Value at = b.create<arith::AddIOp>(loc, first, constant(b, loc, warp));
    Value other = fromInteger(b, loc, b.create<LLVM::LoadOp>(loc, integer, address(at)), type);
    value = warp == 0 ? other : combine(value, other);
  }
  b.create<NVVM::Barrier0Op>(loc); // the next values take the same memory
  combineWarp(together * columns);
  return value;
}

void CudaKernels::onOneLane(BodyEmitter &emitter, function_ref<void()> body) const {
  func::FuncOp function = emitter.getFunction();
  int64_t lanes = lanesOf(function), columns = columnsOf(function);
  if (lanes == columns)
    return body();
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  if (lanes > kWarp) // others may still read what the body writes over
    b.create<NVVM::Barrier0Op>(loc);
  Value isFirst = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, laneOf(b, loc, lanes),
                                          constant(b, loc, columns));
  branch(emitter, isFirst, body);
}

Value CudaKernels::createShared(OpBuilder &b, func::FuncOp function, Type type,
                                int64_t count) const {
  auto module = function->getParentOfType<ModuleOp>();
  std::string name, stem = (function.getSymName() + ".shared").str();
  for (unsigned i = 0; name.empty() || module.lookupSymbol(name); ++i)
    name = stem + std::to_string(i);
  return shared(b, function, name, type, count);
}

Value CudaKernels::getLane(OpBuilder &b, func::FuncOp function) const {
  return laneOf(b, function.getLoc(), lanesOf(function));
}

Value CudaKernels::getFromLane(BodyEmitter &emitter, Value value, Value lane) const {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  return shuffle(b, loc, membersOf(b, loc, kWarp), value,
                 b.create<arith::TruncIOp>(loc, b.getI32Type(), lane), NVVM::ShflKind::idx);
}

Value CudaKernels::scanLanes(BodyEmitter &emitter, Value value,
                             function_ref<Value(Value, Value)> combine) const {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  Value members = membersOf(b, loc, kWarp), lane = getLane(b, emitter.getFunction());
  for (int64_t distance = 1; distance < kWarp; distance *= 2) {
    Value before = shuffle(b, loc, members, value, distance, NVVM::ShflKind::up);
    Value exists =
        b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::uge, lane, constant(b, loc, distance));
    value = b.create<arith::SelectOp>(loc, exists, combine(before, value), value);
  }
  return value;
}

/// The lanes as bits of a word, of which the lowest are taken until none is left: while there are
/// enough several at a time, so that what they load is on its way together.
SmallVector<Value>
CudaKernels::forEachLaneWhere(BodyEmitter &emitter, Value condition, ValueRange carried,
                              function_ref<SmallVector<Value>(ValueRange, ValueRange)> body) const {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  Type i32 = b.getI32Type();
  auto number = [&](int64_t n) -> Value { return b.create<arith::ConstantIntOp>(loc, n, 32); };
  SmallVector<Value> state{
      b.create<NVVM::VoteBallotOp>(loc, i32, membersOf(b, loc, kWarp), condition)};
  llvm::append_range(state, carried);
  auto takeTogether = [&](int64_t count) {
    auto loop = b.create<scf::WhileOp>(loc, ValueRange(state).getTypes(), state);
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Location> locations(state.size(), loc);
    Block *before = b.createBlock(&loop.getBefore(), {}, loop.getResultTypes(), locations);
    Value left = before->getArgument(0);
    if (count > 1)
      left = b.create<LLVM::CtPopOp>(loc, i32, left);
    Value enough = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::uge, left, number(count));
    b.create<scf::ConditionOp>(loc, enough, before->getArguments());
    Block *after = b.createBlock(&loop.getAfter(), {}, loop.getResultTypes(), locations);
    BodyEmitter::Scope scope(emitter);
    Value rest = after->getArgument(0);
    SmallVector<Value> lanes;
    for (int64_t i = 0; i < count; ++i) {
      Value lowest = b.create<LLVM::CountTrailingZerosOp>(loc, i32, rest, /*is_zero_poison=*/true);
      lanes.push_back(b.create<arith::ExtUIOp>(loc, b.getI64Type(), lowest));
      rest = b.create<arith::AndIOp>(loc, rest, b.create<arith::SubIOp>(loc, rest, number(1)));
    }
    SmallVector<Value> next{rest};
    llvm::append_range(next, body(lanes, after->getArguments().drop_front()));
    b.create<scf::YieldOp>(loc, next);
    state.assign(loop.getResults().begin(), loop.getResults().end());
  };
  constexpr int64_t kTogether = 4;
  takeTogether(kTogether);
  takeTogether(1);
  return SmallVector<Value>(llvm::drop_begin(state));
}
