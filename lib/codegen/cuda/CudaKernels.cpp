// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/cuda/CudaKernels.h"

#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

static constexpr int64_t kWarp = 32, kThreads = 256, kMostThreads = 1024;
/// What a large GPU works on at a time: blocks for its multiprocessors, threads to hide latency.
static constexpr int64_t kMultiprocessors = 132, kManyThreads = 1 << 17;
/// Elements of 4 bytes that memory transfers together.
static constexpr int64_t kSector = 8;
/// Elements that a warp computes one after the other, for each thread: enough to hide the start of
/// a warp, few enough to make many warps.
static constexpr int64_t kElementsOfThread = 4;
/// The same where a thread takes vectors.
static constexpr int64_t kVectorsOfThread = 2;
/// More buffers do not become parameters: a kernel may have 4 KB of these, and each takes registers
/// or a read of the constant bank.
static constexpr size_t kMostParameters = 40;
/// On a function: the lanes of a task (i64) and how many columns these have, both powers of two; it
/// has one parameter, the array of its buffers. Lane l has column l modulo the number of columns.
/// More lanes than those of a warp are a block.
static constexpr StringLiteral kLanesAttr = "lanes", kColumnsAttr = "columns",
                               kInMemoryAttr = "buffers_in_memory";

static int64_t numberOr1(func::FuncOp function, StringRef attribute) {
  auto number = function->getAttrOfType<IntegerAttr>(attribute);
  return number ? number.getInt() : 1;
}
static int64_t lanesOf(func::FuncOp function) { return numberOr1(function, kLanesAttr); }
static int64_t columnsOf(func::FuncOp function) { return numberOr1(function, kColumnsAttr); }

static Value constant(OpBuilder &b, Location loc, int64_t value) {
  return b.create<arith::ConstantIntOp>(loc, value, 64);
}

template <typename Register> static Value readRegister(OpBuilder &b, Location loc, Type type) {
  Value value = b.create<Register>(loc, b.getI32Type());
  return value.getType() == type ? value : b.create<arith::ExtUIOp>(loc, type, value);
}

/// The thread's number among the `count` that belong together, a power of two.
static Value laneOf(OpBuilder &b, Location loc, int64_t count) {
  return b.create<arith::AndIOp>(loc, readRegister<NVVM::ThreadIdXOp>(b, loc, b.getI64Type()),
                                 constant(b, loc, count - 1));
}

static Value dividedBy(OpBuilder &b, Location loc, Value value, int64_t powerOf2) {
  return b.create<arith::ShRUIOp>(loc, value,
                                  constant(b, loc, llvm::Log2_64(static_cast<uint64_t>(powerOf2))));
}

/// Every buffer lies in global memory; emitters know one kind of pointer only.
static Type globalPointer(MLIRContext *context) { return LLVM::LLVMPointerType::get(context, 1); }

static Value asGeneric(OpBuilder &b, Location loc, Value global) {
  return b.create<LLVM::AddrSpaceCastOp>(loc, LLVM::LLVMPointerType::get(b.getContext()), global);
}

// ---- Functions ----

func::FuncOp CudaKernels::createFunction(exec::KernelOp kernel, ModuleOp module,
                                         bool inLanes) const {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  Block &body = kernel.getBody().front();
  size_t buffers = body.getNumArguments() + body.getTerminator()->getNumOperands() + 1;
  bool inMemory = kernel.getKind() == prim::KernelKind::each || buffers > kMostParameters;
  SmallVector<Type> parameters(inMemory ? 1 : buffers, globalPointer(b.getContext()));
  auto function = b.create<func::FuncOp>(kernel.getLoc(), kernelSymbol(kernel.getSymName()),
                                         b.getFunctionType(parameters, {}));
  if (inLanes)
    function->setAttr(kLanesAttr, b.getI64IntegerAttr(kWarp));
  if (inMemory)
    function->setAttr(kInMemoryAttr, b.getUnitAttr());
  Block *entry = function.addEntryBlock();
  OpBuilder::atBlockEnd(entry).create<func::ReturnOp>(kernel.getLoc());
  return function;
}

Value CudaKernels::getBuffer(OpBuilder &b, func::FuncOp function, int32_t number) const {
  Location loc = function.getLoc();
  if (Value array = getBufferArray(function))
    return loadBuffer(b, loc, array, constant(b, loc, number));
  return asGeneric(b, loc, function.getArgument(static_cast<unsigned>(number)));
}

Value CudaKernels::getBufferArray(func::FuncOp function) const {
  return function->hasAttr(kInMemoryAttr) ? Value(function.getArgument(0)) : nullptr;
}

Value CudaKernels::loadBuffer(OpBuilder &b, Location loc, Value array, Value number) const {
  Type pointer = globalPointer(b.getContext());
  Value slot = b.create<LLVM::GEPOp>(loc, pointer, pointer, array, ArrayRef<LLVM::GEPArg>{number});
  return asGeneric(b, loc, b.create<LLVM::LoadOp>(loc, pointer, slot, sizeof(int64_t)));
}

/// One task or none: where the status tells of an error in the data nothing more is done, so that
/// the state stays as it is without the host having to look.
std::pair<Value, Value> CudaKernels::getTasks(OpBuilder &b, func::FuncOp function,
                                              function_ref<Value()> status,
                                              function_ref<Value()> count) const {
  Location loc = function.getLoc();
  int64_t lanes = lanesOf(function);
  Value tasks = count();
  // 32 bits hold the numbers of all threads of most launches.
  APInt known;
  bool isShort = matchPattern(tasks, m_ConstantInt(&known)) &&
                 known.getSExtValue() < std::numeric_limits<int32_t>::max() / lanes - kMostThreads;
  Type type = isShort ? b.getI32Type() : b.getI64Type();
  Value block = readRegister<NVVM::BlockIdXOp>(b, loc, type),
        threads = readRegister<NVVM::BlockDimXOp>(b, loc, type);
  Value thread = b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, block, threads),
                                         readRegister<NVVM::ThreadIdXOp>(b, loc, type));
  if (isShort)
    thread = b.create<arith::ExtUIOp>(loc, b.getI64Type(), thread);
  Value task = dividedBy(b, loc, thread, lanes);
  Value end =
      b.create<arith::MinSIOp>(loc, b.create<arith::AddIOp>(loc, task, constant(b, loc, 1)), tasks);
  // Other threads may report an error at the same time.
  Value state = b.create<LLVM::LoadOp>(
      loc, b.getI64Type(), status(), sizeof(int64_t), /*isVolatile=*/false,
      /*isNonTemporal=*/false, /*isInvariant=*/false, LLVM::AtomicOrdering::monotonic);
  if (lanes > kWarp) { // all threads of a block or none
    Value bad = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, state, constant(b, loc, 0));
    Value any = b.create<LLVM::CallIntrinsicOp>(
                     loc, b.getI32Type(), b.getStringAttr("llvm.nvvm.barrier0.or"),
                     ValueRange{b.create<arith::ExtUIOp>(loc, b.getI32Type(), bad)})
                    .getResults();
    state = b.create<arith::ExtUIOp>(loc, b.getI64Type(), any);
  }
  Value good = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, state, constant(b, loc, 0));
  return {task, b.create<arith::SelectOp>(loc, good, end, task)};
}

LaunchShape CudaKernels::getLaunchShape(func::FuncOp function, int64_t tasks) const {
  int64_t lanes = lanesOf(function), threads = kThreads;
  if (lanes > kWarp)
    threads = lanes;
  else if (tasks > 0) // small launches: as many warps as there is work for
    threads = std::min(kThreads, static_cast<int64_t>(llvm::alignTo(tasks * lanes, kWarp)));
  function->setAttr(
      kThreadsAttr,
      Builder(function.getContext()).getI32IntegerAttr(static_cast<int32_t>(threads)));
  return {.tasks = tasks,
          .threads = static_cast<int32_t>(threads),
          .tasksPerBlock = static_cast<int32_t>(threads / lanes),
          .buffersInMemory = function->hasAttr(kInMemoryAttr)};
}

int64_t CudaKernels::getTaskElements(func::FuncOp function, int64_t neighbours) const {
  return function->hasAttr(kLanesAttr)
             ? lanesOf(function) * std::max(kElementsOfThread, kVectorsOfThread * neighbours)
             : neighbours;
}

/// Of several errors the last in the table of messages is told, in every run.
void CudaKernels::report(OpBuilder &b, Location loc, Value status, Value code) const {
  b.create<LLVM::AtomicRMWOp>(loc, LLVM::AtomicBinOp::umax, status, code,
                              LLVM::AtomicOrdering::monotonic);
}

// ---- Lanes ----

int64_t CudaKernels::chooseLanes(int64_t, int64_t) const { return kWarp; }

/// How many values of 32 bits a lane can hold beside what it computes with.
static int64_t freeRegisters(int64_t lanes) {
  constexpr int64_t kRegisters = 1 << 16;    // of a multiprocessor
  constexpr int64_t kInUse = 24, kMost = 96; // more leave too few threads to hide latency
  return std::min(kRegisters / std::max(kThreads, lanes) - kInUse, kMost);
}

ReductionShare CudaKernels::shareReduction(func::FuncOp function,
                                           const ReductionShape &shape) const {
  // Half of the threads that hide latency else: the rows of a strip are on their way one after the
  // other, but a lane that keeps its part of a row has all of that on the way at once.
  constexpr int64_t kMostRows = 16, kThreadsOfStrips = kManyThreads / 2;
  int64_t columns = shape.columns, elements = shape.elements, strip = shape.strip;
  int64_t rows = llvm::divideCeil(shape.rows, strip > 0 ? strip : kMostRows);
  int64_t taskColumns =
      std::min(kWarp, static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(columns))));
  auto tasks = [&] { return rows * static_cast<int64_t>(llvm::divideCeil(columns, taskColumns)); };
  // Of both directions whole sectors, or most of one.
  if (shape.transposed)
    taskColumns = std::min(taskColumns, kSector);
  while (taskColumns > kSector && tasks() < kMultiprocessors)
    taskColumns /= 2;
  int64_t shares = 1; // lanes of a column
  auto lanes = [&] { return taskColumns * shares; };
  // A row's lanes take whole sectors.
  auto splitsSector = [&] { return lanes() < kSector && elements > shares; };
  while (lanes() < kWarp && (elements > shares * kElementsOfThread || splitsSector()))
    shares *= 2;
  // More than a warp where the GPU would idle, or a lane could not keep its part of a row.
  constexpr int64_t kLeast = 8, kLong = 16; // elements of a lane
  auto isFull = [&] {
    int64_t ofLane = llvm::divideCeil(elements, shares);
    return ofLane * shape.registers > freeRegisters(lanes());
  };
  auto isLong = [&] { return taskColumns == 1 && (elements > shares * kLong || isFull()); };
  auto idles = [&] { return tasks() * lanes() < kManyThreads && elements >= shares * kLeast; };
  // The warps of a block bring together what each has of some columns: of more, more than registers
  // hold.
  int64_t most = taskColumns == 1 ? kMostThreads : kMostThreads / 2;
  while (lanes() >= kWarp && lanes() < most && (isLong() || idles()))
    shares *= 2;
  if (strip == 0) {
    strip = std::min(kMostRows, shape.rows * lanes() / kThreadsOfStrips);
    if (strip <= 1)
      return shareReduction(function, {.rows = shape.rows,
                                       .columns = columns,
                                       .elements = elements,
                                       .transposed = shape.transposed});
  }
  Builder b(function.getContext());
  function->setAttr(kLanesAttr, b.getI64IntegerAttr(lanes()));
  function->setAttr(kColumnsAttr, b.getI64IntegerAttr(taskColumns));
  return {.columns = taskColumns, .lanes = shares, .strip = strip};
}

Value CudaKernels::getColumn(OpBuilder &b, func::FuncOp function) const {
  return laneOf(b, function.getLoc(), columnsOf(function));
}

Value CudaKernels::getShare(OpBuilder &b, func::FuncOp function) const {
  Location loc = function.getLoc();
  return dividedBy(b, loc, laneOf(b, loc, lanesOf(function)), columnsOf(function));
}

int64_t CudaKernels::getFreeRegisters(func::FuncOp function) const {
  return freeRegisters(lanesOf(function));
}

void CudaKernels::setLanes(BodyEmitter &, unsigned, int64_t) const {}

/// A lane takes one element after the other, those of a warp being neighbours; or where vectors run
/// along the dimension one vector after the other, and of what is left at the end one element.
SmallVector<Value> CudaKernels::loopOverLanes(BodyEmitter &emitter, unsigned dim, int64_t extent,
                                              Value low, Value high, bool exact, ValueRange carried,
                                              LaneBody body) const {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  IndexEmitter &index = emitter.indices();
  func::FuncOp function = emitter.getFunction();
  int64_t lanes = lanesOf(function), columns = columnsOf(function), shares = lanes / columns;
  Value lane = getShare(b, function);
  auto loop = [&](Value from, Value to, int64_t width) {
    Value offset = b.create<arith::MulIOp>(loc, lane, constant(b, loc, width));
    Value first = b.create<arith::AddIOp>(loc, from, offset);
    return forLoop(emitter, first, to, shares * width, carried, [&](Value i, ValueRange in) {
      index.setDim(dim, i, extent);
      return body(in, nullptr);
    });
  };
  int64_t width = index.width();
  if (index.vectorDim() != dim || width == 1)
    return loop(low, high, 1);
  if (exact)
    return loop(low, high, width);
  assert(carried.empty() && "vectors and single elements are not carried alike");
  Value rest = b.create<arith::AndIOp>(loc, high, constant(b, loc, width - 1));
  Value full = b.create<arith::SubIOp>(loc, high, rest);
  loop(low, full, width);
  index.setVector(~0u, 1);
  loop(full, high, 1);
  index.setVector(dim, width);
  return {};
}

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

BlockLimits CudaKernels::getBlockLimits() const {
  return {.lanes = kMostThreads, .sharedBytes = 48 << 10}; // without asking the driver for more
}

int64_t CudaKernels::setBlock(func::FuncOp function, int64_t lanes) const {
  auto rounded = static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(lanes)));
  // A warp would not be a block: several tasks would be one.
  rounded = std::clamp(rounded, 2 * kWarp, kMostThreads);
  function->setAttr(kLanesAttr, Builder(function.getContext()).getI64IntegerAttr(rounded));
  return rounded;
}

Value CudaKernels::createShared(OpBuilder &b, func::FuncOp function, Type type,
                                int64_t count) const {
  auto module = function->getParentOfType<ModuleOp>();
  std::string name, stem = (function.getSymName() + ".shared").str();
  for (unsigned i = 0; name.empty() || module.lookupSymbol(name); ++i)
    name = stem + std::to_string(i);
  return shared(b, function, name, type, count);
}

void CudaKernels::synchronize(OpBuilder &b, Location loc) const { b.create<NVVM::Barrier0Op>(loc); }

int64_t CudaKernels::getBusyTasks(func::FuncOp function) const {
  return kManyThreads / lanesOf(function);
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

/// The lanes as bits of a word, of which the lowest is taken until none is left.
void CudaKernels::forEachLaneWhere(BodyEmitter &emitter, Value condition,
                                   function_ref<void(Value)> body) const {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  Type i32 = b.getI32Type();
  auto number = [&](int64_t n) -> Value { return b.create<arith::ConstantIntOp>(loc, n, 32); };
  Value all = b.create<NVVM::VoteBallotOp>(loc, i32, membersOf(b, loc, kWarp), condition);
  auto loop = b.create<scf::WhileOp>(loc, TypeRange{i32}, ValueRange{all});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, i32, loc);
  Value left = before->getArgument(0);
  Value any = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, left, number(0));
  b.create<scf::ConditionOp>(loc, any, left);
  Value lanes = b.createBlock(&loop.getAfter(), {}, i32, loc)->getArgument(0);
  BodyEmitter::Scope scope(emitter);
  Value lowest = b.create<LLVM::CountTrailingZerosOp>(loc, i32, lanes, /*is_zero_poison=*/true);
  body(b.create<arith::ExtUIOp>(loc, b.getI64Type(), lowest));
  Value rest = b.create<arith::SubIOp>(loc, lanes, number(1));
  b.create<scf::YieldOp>(loc, ValueRange{b.create<arith::AndIOp>(loc, lanes, rest)});
}
