// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels on a CPU: `void name(char *const *buffers, int64_t begin, int64_t end)`
// (accc_kernel_function of include/accc/abi.h), in short vectors.
#ifndef ACCC_CODEGEN_CPU_CPUKERNELS_H
#define ACCC_CODEGEN_CPU_CPUKERNELS_H

#include "codegen/element/KernelTarget.h"
#include "support/SizeThreshold.h"

namespace accc::codegen {

/// How many elements make a task worth handing to another thread.
inline int64_t taskElements() { return sizeThreshold(16384); }

class CpuKernels final : public KernelTarget {
public:
  /// `vectorBits`: the width of a vector register; short vectors are this many bits of f32.
  explicit CpuKernels(int64_t vectorBits) : vectorBits(vectorBits) {}

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
  int64_t getTaskElements(mlir::func::FuncOp, int64_t, bool) const override {
    return taskElements();
  }
  int64_t getTaskColumns() const override { return 64; }
  void report(mlir::OpBuilder &b, mlir::Location loc, mlir::Value status,
              mlir::Value code) const override;

  bool lanesAreThreads() const override { return false; }
  int64_t chooseLanes(int64_t extent, int64_t unroll) const override;
  void setLanes(BodyEmitter &emitter, unsigned dim, int64_t lanes) const override;
  llvm::SmallVector<mlir::Value> loopOverLanes(BodyEmitter &emitter, unsigned dim, int64_t extent,
                                               mlir::Value low, mlir::Value high, bool exact,
                                               mlir::ValueRange carried,
                                               LaneBody body) const override;
  mlir::Value
  combineLanes(BodyEmitter &emitter, mlir::Value value,
               llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine) const override;
  void onOneLane(BodyEmitter &emitter, llvm::function_ref<void()> body) const override { body(); }

private:
  int64_t vectorBits;
};

} // namespace accc::codegen

#endif
