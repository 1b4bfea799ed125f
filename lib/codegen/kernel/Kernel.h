// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a kernel's `prim` body to a function of loops over vectors.
//
// A function's buffers are the kernel's inputs, then its outputs, then the status word. One call
// does some of the launch's tasks, which are independent of each other: the result of a task does
// not depend on which call does it. What a call looks like is KernelTarget's. The function is made
// of `func`, `scf`, `arith`, `math`, `vector`, `llvm` and the target's ops.
#ifndef ACCC_CODEGEN_KERNEL_KERNEL_H
#define ACCC_CODEGEN_KERNEL_KERNEL_H

#include "codegen/element/ErrorTable.h"
#include "codegen/element/KernelTarget.h"
#include "ir/exec/Exec.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/MapVector.h"

#include <algorithm>
#include <string>
#include <vector>

namespace accc::codegen {

/// The symbol of a kernel's function. Kernels are named after ops, and so are the functions of the
/// C library that code may call: `acos` is one's, `kernel.acos` the other's.
inline std::string kernelSymbol(llvm::StringRef kernel) { return ("kernel." + kernel).str(); }

/// What an image for a device calls it: names of PTX have no dots.
inline std::string deviceSymbol(llvm::StringRef kernel) {
  std::string symbol = kernelSymbol(kernel);
  std::replace(symbol.begin(), symbol.end(), '.', '$');
  return symbol;
}

/// What the objects of a library call a kernel's function: `prefix` is a name that no other CPU's
/// code in the library has.
inline std::string objectSymbol(llvm::StringRef prefix, llvm::StringRef function) {
  return (prefix + "." + function).str();
}

struct KernelFunction {
  mlir::func::FuncOp function;
  LaunchShape launch;
};

/// Segments of a launch of a kernel of kind `each`. Its function gets, as its first buffer, a table
/// of int64: the number of segments, for each its first task and its number of elements, and the
/// number of tasks; after it the buffers of the segments, one segment after the other, and the
/// status.
struct SegmentTable {
  llvm::SmallVector<int64_t> words;
  int64_t tasks = 0;
  SegmentTable(llvm::ArrayRef<int64_t> sizes, int64_t taskElements);
};

/// The emitted kernels, by the symbols of their exec.kernel, in the order of accc_code.kernels.
using KernelShapes = llvm::MapVector<llvm::StringRef, LaunchShape>;

struct KernelModule {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  KernelShapes shapes;
};

/// The functions of all kernels of a program.
mlir::FailureOr<KernelModule> emitKernels(mlir::ModuleOp program, const KernelTarget &target,
                                          ErrorTable &errors);

/// Emits `kernel` at the end of `module`. Fails with a diagnostic on a body that no emitter takes.
mlir::FailureOr<KernelFunction> emitKernel(exec::KernelOp kernel, mlir::ModuleOp module,
                                           const KernelTarget &target, ErrorTable &errors);

} // namespace accc::codegen

#endif
