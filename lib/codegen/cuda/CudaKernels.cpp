// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/cuda/CudaKernels.h"

#include "codegen/cuda/Lanes.h"
#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Kernel.h"
#include "support/SizeThreshold.h"
#include "target/cuda/CudaTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

static constexpr int64_t kThreads = 256, kMostThreads = 1024;
/// What a large GPU works on at a time: blocks for its multiprocessors, threads to hide latency.
static constexpr int64_t kMultiprocessors = 132;
static int64_t manyThreads() { return sizeThreshold(1 << 17); }
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
/// On a function: it has one parameter, the array of its buffers.
static constexpr StringLiteral kInMemoryAttr = "buffers_in_memory";
/// On a function: it looks at the status before it works, and it may set it. On the load: it is
/// the one that looks.
static constexpr StringLiteral kChecksAttr = "checks_status", kReportsAttr = "reports";

/// Every buffer lies in global memory; emitters know one kind of pointer only.
static Type globalPointer(MLIRContext *context) { return LLVM::LLVMPointerType::get(context, 1); }

static Value asGeneric(OpBuilder &b, Location loc, Value global) {
  return b.create<LLVM::AddrSpaceCastOp>(loc, LLVM::LLVMPointerType::get(b.getContext()), global);
}

// ---- Functions ----

CudaKernels::CudaKernels(ModuleOp program) {
  auto add = [&](StringRef kernel, ValueRange outputs) {
    for (Value output : outputs)
      if (output.getDefiningOp<exec::SliceOp>().getSpace() == exec::Space::state)
        changesState.insert(kernel);
  };
  program.walk([&](exec::LaunchOp launch) { add(launch.getKernel(), launch.getOutputs()); });
  program.walk([&](exec::LaunchEachOp launch) { add(launch.getKernel(), launch.getOutputs()); });
}

/// Whether what the kernel does needs indices in memory to be right.
static bool usesIndices(exec::KernelOp kernel) {
  return llvm::any_of(kernel.getBody().front(),
                      [](Operation &op) { return op.hasTrait<ReportsErrors>(); });
}

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
  if (changesState.contains(kernel.getSymName()) || usesIndices(kernel))
    function->setAttr(kChecksAttr, b.getUnitAttr());
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

/// One task or none: where the status tells of an error in the data a function that looks does
/// nothing more, so that the state stays as it is without the host having to look.
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
  if (!function->hasAttr(kChecksAttr))
    return {task, end};
  // Other threads may report an error at the same time (else see getLaunchShape).
  auto state = b.create<LLVM::LoadOp>(
      loc, b.getI64Type(), status(), sizeof(int64_t), /*isVolatile=*/false,
      /*isNonTemporal=*/false, /*isInvariant=*/false, LLVM::AtomicOrdering::monotonic);
  state->setAttr(kChecksAttr, b.getUnitAttr());
  Value word = state;
  if (lanes > kWarp) { // all threads of a block or none
    Value bad = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, word, constant(b, loc, 0));
    Value any = b.create<LLVM::CallIntrinsicOp>(
                     loc, b.getI32Type(), b.getStringAttr("llvm.nvvm.barrier0.or"),
                     ValueRange{b.create<arith::ExtUIOp>(loc, b.getI32Type(), bad)})
                    .getResults();
    word = b.create<arith::ExtUIOp>(loc, b.getI64Type(), any);
  }
  Value good = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, word, constant(b, loc, 0));
  return {task, b.create<arith::SelectOp>(loc, good, end, task)};
}

LaunchShape CudaKernels::getLaunchShape(func::FuncOp function, int64_t tasks) const {
  // What nobody writes meanwhile stays in the first cache of a multiprocessor.
  if (!function->hasAttr(kReportsAttr))
    function.walk([](LLVM::LoadOp load) {
      if (load->removeAttr(kChecksAttr))
        load.setOrdering(LLVM::AtomicOrdering::not_atomic);
    });
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

int64_t CudaKernels::getTaskElements(func::FuncOp function, int64_t neighbours,
                                     bool findsSegment) const {
  if (!function->hasAttr(kLanesAttr))
    return neighbours;
  // Of a segment more: its table and its addresses are a kilobyte that each task reads.
  int64_t vectors = findsSegment ? 2 * kVectorsOfThread : kVectorsOfThread;
  return lanesOf(function) * std::max(kElementsOfThread, vectors * neighbours);
}

/// Of several errors the last in the table of messages is told, in every run.
void CudaKernels::report(OpBuilder &b, Location loc, Value status, Value code) const {
  status.getParentRegion()->getParentOfType<func::FuncOp>()->setAttr(kReportsAttr, b.getUnitAttr());
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
  constexpr int64_t kMostRows = 16;
  const int64_t threadsOfStrips = manyThreads() / 2;
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
  // A row's lanes take whole sectors. Where a lane has several results, it brings each together
  // with other lanes: the fewer, the better.
  bool isShort = shape.together > 1 && elements < kSector;
  auto splitsSector = [&] { return lanes() < kSector && elements > shares && !isShort; };
  int64_t ofLane = kElementsOfThread * shape.together;
  while (lanes() < kWarp && (elements > shares * ofLane || splitsSector()))
    shares *= 2;
  // More than a warp where the GPU would idle, or a lane could not keep its part of a row.
  constexpr int64_t kLeast = 8, kLong = 16; // elements of a lane
  auto isFull = [&] {
    int64_t ofLane = llvm::divideCeil(elements, shares);
    return ofLane * shape.registers > freeRegisters(lanes());
  };
  auto isLong = [&] {
    return taskColumns == 1 && shape.together == 1 && (elements > shares * kLong || isFull());
  };
  auto idles = [&] { return tasks() * lanes() < manyThreads() && elements >= shares * kLeast; };
  // The warps of a block bring together what each has of some columns: of more, more than registers
  // hold.
  int64_t most = taskColumns == 1 ? kMostThreads : kMostThreads / 2;
  while (lanes() >= kWarp && lanes() < most && (isLong() || idles()))
    shares *= 2;
  if (strip == 0) {
    strip = std::min(kMostRows, shape.rows * lanes() / threadsOfStrips);
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
BlockLimits CudaKernels::getBlockLimits() const {
  return {.lanes = kMostThreads,
          .meetingLanes = kThreads,
          .sharedElements = 8,
          .sharedBytes = kCudaSharedBytes};
}

int64_t CudaKernels::setBlock(func::FuncOp function, int64_t lanes) const {
  auto rounded = static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(lanes)));
  // A warp would not be a block: several tasks would be one.
  rounded = std::clamp(rounded, 2 * kWarp, kMostThreads);
  function->setAttr(kLanesAttr, Builder(function.getContext()).getI64IntegerAttr(rounded));
  return rounded;
}

void CudaKernels::synchronize(OpBuilder &b, Location loc) const { b.create<NVVM::Barrier0Op>(loc); }

int64_t CudaKernels::getBusyTasks(func::FuncOp function) const {
  return std::max<int64_t>(manyThreads() / lanesOf(function), 1);
}
