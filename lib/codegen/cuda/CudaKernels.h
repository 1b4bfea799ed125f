// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels on an NVIDIA GPU: a task is computed by a warp, each of whose threads is a lane, or where
// it cannot be split by one thread. A reduction takes as many threads as it is worth: a part of a
// warp to a block.
//
// A kernel has a parameter for each of its buffers, or one, the address of an array of their
// addresses (accc_kernel.buffers_in_memory).
#ifndef ACCC_CODEGEN_CUDA_CUDAKERNELS_H
#define ACCC_CODEGEN_CUDA_CUDAKERNELS_H

#include "codegen/element/KernelTarget.h"

#include "llvm/ADT/StringSet.h"

namespace accc::codegen {

/// On a finished function: how many threads a block has (i32).
inline constexpr llvm::StringLiteral kThreadsAttr = "threads";

/// After an error in the data, kernels that would do harm look at the status and do nothing: those
/// that change the state, and those that read or write at indices from memory, which a kernel that
/// found an error may not have written. The others work on with whatever lies there, for the word
/// is one that all warps of a launch would wait for: on an H100 memory gives about one of them its
/// value in a cycle, a limit that many kernels reach.
class CudaKernels final : public KernelTarget {
public:
  explicit CudaKernels(mlir::ModuleOp program);

  mlir::func::FuncOp createFunction(exec::KernelOp kernel, mlir::ModuleOp module,
                                    bool inLanes) const override;
  mlir::Value getBuffer(mlir::OpBuilder &b, mlir::func::FuncOp function,
                        int32_t number) const override;
  mlir::Value getBufferArray(mlir::func::FuncOp function) const override;
  mlir::Value loadBuffer(mlir::OpBuilder &b, mlir::Location loc, mlir::Value array,
                         mlir::Value number) const override;
  std::pair<mlir::Value, mlir::Value>
  getTasks(mlir::OpBuilder &b, mlir::func::FuncOp function,
           llvm::function_ref<mlir::Value()> status,
           llvm::function_ref<mlir::Value()> count) const override;
  LaunchShape getLaunchShape(mlir::func::FuncOp function, int64_t tasks) const override;
  int64_t getTaskElements(mlir::func::FuncOp function, int64_t neighbours,
                          bool findsSegment) const override;
  int64_t getTaskColumns() const override { return 64; }
  void report(mlir::OpBuilder &b, mlir::Location loc, mlir::Value status,
              mlir::Value code) const override;

  bool lanesAreThreads() const override { return true; }
  int64_t getAccessBytes() const override { return 16; }
  RowAccess getRowAccess() const override { return {.busy = 4, .most = 8}; }
  int64_t chooseLanes(int64_t extent, int64_t unroll) const override;
  ReductionShare shareReduction(mlir::func::FuncOp function,
                                const ReductionShape &shape) const override;
  mlir::Value getColumn(mlir::OpBuilder &b, mlir::func::FuncOp function) const override;
  mlir::Value getShare(mlir::OpBuilder &b, mlir::func::FuncOp function) const override;
  int64_t getFreeRegisters(mlir::func::FuncOp function) const override;
  void setLanes(BodyEmitter &emitter, unsigned dim, int64_t lanes) const override;
  llvm::SmallVector<mlir::Value> loopOverLanes(BodyEmitter &emitter, unsigned dim, int64_t extent,
                                               mlir::Value low, mlir::Value high, bool exact,
                                               mlir::ValueRange carried,
                                               LaneBody body) const override;
  mlir::Value
  combineLanes(BodyEmitter &emitter, mlir::Value value,
               llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine) const override;
  void onOneLane(BodyEmitter &emitter, llvm::function_ref<void()> body) const override;
  BlockLimits getBlockLimits() const override;
  int64_t setBlock(mlir::func::FuncOp function, int64_t lanes) const override;
  mlir::Value createShared(mlir::OpBuilder &b, mlir::func::FuncOp function, mlir::Type type,
                           int64_t count) const override;
  void synchronize(mlir::OpBuilder &b, mlir::Location loc) const override;
  int64_t getBusyTasks(mlir::func::FuncOp function) const override;
  mlir::Value getLane(mlir::OpBuilder &b, mlir::func::FuncOp function) const override;
  mlir::Value getFromLane(BodyEmitter &emitter, mlir::Value value, mlir::Value lane) const override;
  mlir::Value
  scanLanes(BodyEmitter &emitter, mlir::Value value,
            llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine) const override;
  llvm::SmallVector<mlir::Value>
  forEachLaneWhere(BodyEmitter &emitter, mlir::Value condition, mlir::ValueRange carried,
                   llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange lanes,
                                                                     mlir::ValueRange carried)>
                       body) const override;

private:
  llvm::StringSet<> changesState; // symbols of kernels
};

} // namespace accc::codegen

#endif
