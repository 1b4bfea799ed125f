// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/cuda/CudaKernels.h"

#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

static constexpr int64_t kWarp = 32, kThreads = 256;
/// Elements that a warp computes one after the other, for each thread: enough to hide the start of
/// a warp, few enough to make many warps.
static constexpr int64_t kElementsOfThread = 4;
/// More buffers do not become parameters: a kernel may have 4 KB of these, and each takes registers
/// or a read of the constant bank.
static constexpr size_t kMostParameters = 40;
/// On a function: its tasks run in lanes; it has one parameter, the array of its buffers.
static constexpr StringLiteral kInLanesAttr = "in_lanes", kInMemoryAttr = "buffers_in_memory";

static bool runsInLanes(func::FuncOp function) { return function->hasAttr(kInLanesAttr); }

static Value constant(OpBuilder &b, Location loc, int64_t value) {
  return b.create<arith::ConstantIntOp>(loc, value, 64);
}

template <typename Register> static Value readRegister(OpBuilder &b, Location loc) {
  return b.create<arith::ExtUIOp>(loc, b.getI64Type(), b.create<Register>(loc, b.getI32Type()));
}

/// The thread's number in its warp.
static Value laneOf(OpBuilder &b, Location loc) {
  return b.create<arith::AndIOp>(loc, readRegister<NVVM::ThreadIdXOp>(b, loc),
                                 constant(b, loc, kWarp - 1));
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
    function->setAttr(kInLanesAttr, b.getUnitAttr());
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
  Value thread =
      b.create<arith::AddIOp>(loc,
                              b.create<arith::MulIOp>(loc, readRegister<NVVM::BlockIdXOp>(b, loc),
                                                      readRegister<NVVM::BlockDimXOp>(b, loc)),
                              readRegister<NVVM::ThreadIdXOp>(b, loc));
  Value task = thread;
  if (runsInLanes(function))
    task = b.create<arith::DivUIOp>(loc, thread, constant(b, loc, kWarp));
  Value end = b.create<arith::MinSIOp>(loc, b.create<arith::AddIOp>(loc, task, constant(b, loc, 1)),
                                       count());
  // Other threads may report an error at the same time.
  Value state = b.create<LLVM::LoadOp>(
      loc, b.getI64Type(), status(), sizeof(int64_t), /*isVolatile=*/false,
      /*isNonTemporal=*/false, /*isInvariant=*/false, LLVM::AtomicOrdering::monotonic);
  Value good = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, state, constant(b, loc, 0));
  return {task, b.create<arith::SelectOp>(loc, good, end, task)};
}

LaunchShape CudaKernels::getLaunchShape(func::FuncOp function, int64_t tasks) const {
  int64_t lanes = runsInLanes(function) ? kWarp : 1, threads = kThreads;
  if (tasks > 0) // small launches: as many warps as there is work for
    threads = std::min(kThreads, static_cast<int64_t>(llvm::alignTo(tasks * lanes, kWarp)));
  function->setAttr(
      kThreadsAttr,
      Builder(function.getContext()).getI32IntegerAttr(static_cast<int32_t>(threads)));
  return {.tasks = tasks,
          .threads = static_cast<int32_t>(threads),
          .tasksPerBlock = static_cast<int32_t>(threads / lanes),
          .buffersInMemory = function->hasAttr(kInMemoryAttr)};
}

int64_t CudaKernels::getTaskElements(func::FuncOp function) const {
  return runsInLanes(function) ? kWarp * kElementsOfThread : 1;
}

/// Of several errors the last in the table of messages is told, in every run.
void CudaKernels::report(OpBuilder &b, Location loc, Value status, Value code) const {
  b.create<LLVM::AtomicRMWOp>(loc, LLVM::AtomicBinOp::umax, status, code,
                              LLVM::AtomicOrdering::monotonic);
}

// ---- Lanes ----

int64_t CudaKernels::chooseLanes(int64_t, int64_t) const { return kWarp; }

void CudaKernels::setLanes(BodyEmitter &, unsigned, int64_t) const {}

SmallVector<Value> CudaKernels::loopOverLanes(BodyEmitter &emitter, unsigned dim, int64_t extent,
                                              Value low, Value high, bool, ValueRange carried,
                                              LaneBody body) const {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  bool inLanes = runsInLanes(emitter.getFunction());
  Value first = inLanes ? b.create<arith::AddIOp>(loc, low, laneOf(b, loc)) : low;
  return forLoop(emitter, first, high, inLanes ? kWarp : 1, carried, [&](Value i, ValueRange in) {
    emitter.indices().setDim(dim, i, extent);
    return body(in, nullptr);
  });
}

/// The value of the thread whose number differs in the bits of `distance`. Registers of a shuffle
/// have 32 bits.
static Value shuffle(OpBuilder &b, Location loc, Value value, int64_t distance) {
  Type type = value.getType(), i32 = b.getI32Type();
  auto exchange = [&](Value word) -> Value {
    auto number = [&](int64_t n) -> Value { return b.create<arith::ConstantIntOp>(loc, n, 32); };
    return b.create<NVVM::ShflOp>(loc, i32, number(-1), word, number(distance), number(kWarp - 1),
                                  NVVM::ShflKind::bfly, UnitAttr());
  };
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(bits);
  Value word = isa<FloatType>(type) ? b.create<arith::BitcastOp>(loc, integer, value) : value;
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
  return isa<FloatType>(type) ? b.create<arith::BitcastOp>(loc, type, word) : word;
}

Value CudaKernels::combineLanes(BodyEmitter &emitter, Value value,
                                function_ref<Value(Value, Value)> combine) const {
  if (!runsInLanes(emitter.getFunction()))
    return value;
  for (int64_t distance = kWarp / 2; distance > 0; distance /= 2)
    value = combine(value, shuffle(emitter.builder(), emitter.loc(), value, distance));
  return value;
}

void CudaKernels::onOneLane(BodyEmitter &emitter, function_ref<void()> body) const {
  if (!runsInLanes(emitter.getFunction()))
    return body();
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  Value isFirst =
      b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, laneOf(b, loc), constant(b, loc, 0));
  auto first = b.create<scf::IfOp>(loc, isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(first.thenBlock());
  BodyEmitter::Scope scope(emitter);
  body();
}
