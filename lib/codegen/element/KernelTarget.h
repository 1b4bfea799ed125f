// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the loop emitters ask of the machine that a kernel is for.
//
// A task runs in lanes: on a CPU those of a vector register, on a GPU the threads of a warp. The
// loop over a tensor's innermost dimension is split among them (loopOverLanes), what each has is
// combined at the end (combineLanes); everything else of a task is computed once on a CPU, and by
// every lane alike on a GPU.
#ifndef ACCC_CODEGEN_ELEMENT_KERNELTARGET_H
#define ACCC_CODEGEN_ELEMENT_KERNELTARGET_H

#include "ir/exec/Exec.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <utility>

namespace accc::codegen {

/// How a kernel is launched: fields of accc_kernel, and the number of tasks. Where that differs
/// from launch to launch (kind `each`) it is 0, and a task has `taskElements`.
struct LaunchShape {
  int64_t tasks = 0, taskElements = 0;
  int32_t threads = 0, tasksPerBlock = 0, sharedBytes = 0;
  bool buffersInMemory = false;
};

/// What is shared among lanes that are threads: `elements` elements are reduced to each of the
/// results, which are `rows` rows of `columns` neighbours.
struct ReductionShape {
  int64_t rows, columns, elements;
  int64_t strip = 1;     // so many rows are a task's; 0: as many as leave the machine busy
  int64_t registers = 0; // of 32 bits that a lane is to keep for each element that it has
  int64_t together = 1;  // results that a lane has in place of each of these, which read the same
  /// Some of what is read has neighbours among the elements of a result, not among the columns.
  bool transposed = false;
};

/// How a task of a reduction is shared among lanes that are threads.
struct ReductionShare {
  int64_t columns; // neighbouring results
  int64_t lanes;   // of each, which share its elements
  int64_t strip;   // rows that a task takes one after the other
};

/// What a task can have that runs in a block.
struct BlockLimits {
  int64_t lanes;
  int64_t meetingLanes;   // of a task whose lanes wait for each other after every few operations
  int64_t sharedElements; // that a lane has at least, where all share those of a matrix
  int64_t sharedBytes;    // of memory that its lanes share, while several blocks run at a time
};

/// What a lane that is a thread takes at once of a row, in bytes.
struct RowAccess {
  int64_t busy; // one element of so many after the other keeps memory busy, of fewer not
  int64_t most; // of several neighbours
};

class BodyEmitter;

class KernelTarget {
public:
  virtual ~KernelTarget();

  // ---- Functions ----

  /// An empty function for `kernel` at the end of the module. `inLanes`: its tasks run in lanes;
  /// else each is computed by one, and loopOverLanes is a plain loop.
  virtual mlir::func::FuncOp createFunction(exec::KernelOp kernel, mlir::ModuleOp module,
                                            bool inLanes) const = 0;
  /// The address of buffer number `number` of the function's: inputs, outputs, status.
  virtual mlir::Value getBuffer(mlir::OpBuilder &b, mlir::func::FuncOp function,
                                int32_t number) const = 0;
  /// The array of these addresses, where they lie in memory; else null.
  virtual mlir::Value getBufferArray(mlir::func::FuncOp function) const = 0;
  /// Element `number` (i64) of such an array.
  virtual mlir::Value loadBuffer(mlir::OpBuilder &b, mlir::Location loc, mlir::Value array,
                                 mlir::Value number) const = 0;
  /// The tasks [first, second) that this call of the function does. `count` gives the number of all
  /// tasks of the launch, an i64; `status` the address of the status word.
  virtual std::pair<mlir::Value, mlir::Value>
  getTasks(mlir::OpBuilder &b, mlir::func::FuncOp function,
           llvm::function_ref<mlir::Value()> status,
           llvm::function_ref<mlir::Value()> count) const = 0;
  /// How a finished function is launched over `tasks` tasks.
  virtual LaunchShape getLaunchShape(mlir::func::FuncOp function, int64_t tasks) const = 0;
  /// How many elements make a task of the function, whose lanes take so many neighbours at once.
  /// `findsSegment`: each task looks for its tensor first, among those of the launch.
  virtual int64_t getTaskElements(mlir::func::FuncOp function, int64_t neighbours = 1,
                                  bool findsSegment = false) const = 0;
  /// Sets the status word to `code` (i64), an error in the data.
  virtual void report(mlir::OpBuilder &b, mlir::Location loc, mlir::Value status,
                      mlir::Value code) const = 0;

  /// Of how many columns of a matrix a task computes the solutions, one beside the other.
  virtual int64_t getTaskColumns() const = 0;

  // ---- Lanes ----

  using LaneBody =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange, mlir::Value mask)>;

  /// Whether lanes are threads, so that values are scalars and any number of dimensions can be
  /// walked as one. A call then does one task.
  virtual bool lanesAreThreads() const = 0;
  /// Where lanes are threads: how many bytes of memory one can access at once.
  virtual int64_t getAccessBytes() const;
  virtual RowAccess getRowAccess() const;
  /// The number of lanes for a loop of `extent` iterations. `unroll` registers are taken as one
  /// where there is enough to fill them.
  virtual int64_t chooseLanes(int64_t extent, int64_t unroll = 1) const = 0;
  /// Where lanes are threads: chooses the lanes of a task of `function`. To be asked before the
  /// tasks.
  virtual ReductionShare shareReduction(mlir::func::FuncOp function,
                                        const ReductionShape &shape) const;
  /// Which of its task's columns the lane has (i64); it may lie past the last of the row.
  virtual mlir::Value getColumn(mlir::OpBuilder &b, mlir::func::FuncOp function) const;
  /// The lane's number (i64) among those that share its column.
  virtual mlir::Value getShare(mlir::OpBuilder &b, mlir::func::FuncOp function) const;
  /// How many values of 32 bits a lane of such a task can hold beside what it computes with.
  virtual int64_t getFreeRegisters(mlir::func::FuncOp function) const;
  /// From now on lanes run along loop variable `dim`; none: ~0u.
  virtual void setLanes(BodyEmitter &emitter, unsigned dim, int64_t lanes) const = 0;
  /// Loops over [low, high) of loop variable `dim` (extent `extent`), along which lanes run. `low`
  /// is a multiple of their number. `body` gets and returns the carried values, each lane's own,
  /// and gets a mask of the lanes that take part or null for all. `exact`: high - low is known to
  /// be a multiple of their number.
  virtual llvm::SmallVector<mlir::Value>
  loopOverLanes(BodyEmitter &emitter, unsigned dim, int64_t extent, mlir::Value low,
                mlir::Value high, bool exact, mlir::ValueRange carried, LaneBody body) const = 0;
  /// The values of all lanes (of the same column), combined as a tree of fixed shape: the result in
  /// every lane.
  virtual mlir::Value
  combineLanes(BodyEmitter &emitter, mlir::Value value,
               llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine) const = 0;
  /// Runs `body`, which writes what is the same for all lanes (of a column), once.
  virtual void onOneLane(BodyEmitter &emitter, llvm::function_ref<void()> body) const = 0;

  // ---- Lanes that are threads, of a function created with inLanes ----

  virtual BlockLimits getBlockLimits() const;
  /// A task of `function` runs in a block of about so many lanes, which share memory and can wait
  /// for each other. Gives their number, a power of two. To be asked before the tasks.
  virtual int64_t setBlock(mlir::func::FuncOp function, int64_t lanes) const;
  /// Memory for `count` elements of this type that the lanes of a block share: a pointer to it.
  virtual mlir::Value createShared(mlir::OpBuilder &b, mlir::func::FuncOp function, mlir::Type type,
                                   int64_t count) const;
  /// All lanes of a block wait until all are there, and see what any has written before.
  virtual void synchronize(mlir::OpBuilder &b, mlir::Location loc) const;
  /// How many tasks keep the machine busy.
  virtual int64_t getBusyTasks(mlir::func::FuncOp function) const;
  /// The lane's number (i64).
  virtual mlir::Value getLane(mlir::OpBuilder &b, mlir::func::FuncOp function) const;
  /// The value that the lane with this number (i64) has, in every lane.
  virtual mlir::Value getFromLane(BodyEmitter &emitter, mlir::Value value, mlir::Value lane) const;
  /// The values of the lanes up to this one, combined: `combine` gets those of earlier lanes first.
  virtual mlir::Value
  scanLanes(BodyEmitter &emitter, mlir::Value value,
            llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine) const;
  /// Runs `body` in all lanes for the lanes in which `condition` (i1) holds, in order, some at a
  /// time while there are so many. `body` gets their numbers (i64) and the carried values, and
  /// returns the next ones.
  virtual llvm::SmallVector<mlir::Value>
  forEachLaneWhere(BodyEmitter &emitter, mlir::Value condition, mlir::ValueRange carried,
                   llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange lanes,
                                                                     mlir::ValueRange carried)>
                       body) const;
};

} // namespace accc::codegen

#endif
