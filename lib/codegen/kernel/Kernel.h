// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a kernel's `prim` body to a function of loops over vectors.
//
// The function is `void name(char *const *buffers, int64_t begin, int64_t end)` (accc_kernel of
// include/accc/abi.h): buffers are the kernel's inputs, then its outputs, then the status word. It
// does the tasks [begin, end); tasks are independent of each other and the result of a task does
// not depend on how the range is split. It is made of `func`, `scf`, `arith`, `math`, `vector` and
// `llvm` ops.
#ifndef ACCC_CODEGEN_KERNEL_KERNEL_H
#define ACCC_CODEGEN_KERNEL_KERNEL_H

#include "ir/exec/Exec.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace accc::codegen {

struct KernelOptions {
  /// Width of a vector register in bits; short vectors are this many bits of f32.
  int64_t vectorBits = 256;
};

/// What kernels may report at run time. The status word is an accc_status: the data error i is
/// messages[i]; shared by the whole library.
struct ErrorTable {
  std::vector<std::string> messages;
  /// The status word for `message`, adding it if it is new.
  int64_t statusFor(llvm::StringRef message);
};

/// The symbol of a kernel's function. Kernels are named after ops, and so are the functions of the
/// C library that code may call: `acos` is one's, `kernel.acos` the other's.
inline std::string kernelSymbol(llvm::StringRef kernel) { return ("kernel." + kernel).str(); }

/// How a kernel is launched: fields of accc_kernel, and the number of tasks, 0 where that differs
/// from launch to launch (kind `each`) or where there is nothing to compute.
struct LaunchShape {
  int64_t tasks = 0;
  int32_t threads = 0, tasksPerBlock = 0, sharedBytes = 0;
  bool buffersInMemory = false;
};

struct KernelFunction {
  mlir::func::FuncOp function;
  LaunchShape launch;
};

/// Segments of a launch of a kernel of kind `each`. Its function gets, as its first buffer, a table
/// of int64: the number of segments, then for each its first task and its number of elements; after
/// it the buffers of the segments, one segment after the other.
struct SegmentTable {
  llvm::SmallVector<int64_t> words;
  int64_t tasks = 0;
  explicit SegmentTable(llvm::ArrayRef<int64_t> sizes);
};

/// Emits `kernel` at the end of `module`. Fails with a diagnostic on a body that no emitter takes.
mlir::FailureOr<KernelFunction> emitKernel(exec::KernelOp kernel, mlir::ModuleOp module,
                                           const KernelOptions &options, ErrorTable &errors);

} // namespace accc::codegen

#endif
