// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host half of a library: one function an entry point, and the description that a runtime reads.
#ifndef ACCC_CODEGEN_HOST_HOST_H
#define ACCC_CODEGEN_HOST_HOST_H

#include "accc/abi.h"
#include "codegen/Generate.h"
#include "codegen/kernel/Kernel.h"

#include "llvm/IR/Module.h"

namespace accc::codegen {

/// Kernel symbol -> number of tasks.
using KernelTasks = llvm::StringMap<int64_t>;

/// Adds the entry points of `program` to `module`, which holds the kernels already, and the description
/// with its accessor (ACCC_MODEL_SYMBOL).
mlir::LogicalResult addHost(mlir::ModuleOp program, const WeightTable &weights,
                            const GenerateOptions &options, const KernelTasks &tasks,
                            const ErrorTable &errors, llvm::StringRef level, llvm::Module &module);

/// What the runtime needs to know of a library call. Fails with a diagnostic on what no library call does.
mlir::FailureOr<accc_library_call> describeCall(exec::LibraryCallOp call);

/// The ABI's element type.
accc_dtype dtypeOf(mlir::Type elementType);

/// Constant data of the description, by C layout on x86-64.
class ConstantWriter {
public:
  explicit ConstantWriter(llvm::Module &module) : module(module), context(module.getContext()) {}

  llvm::Constant *i32(int64_t value);
  llvm::Constant *i64(int64_t value);
  llvm::Constant *null();
  llvm::Constant *string(llvm::StringRef text);
  llvm::Constant *bytes(llvm::ArrayRef<char> data, llvm::StringRef name);
  llvm::Constant *structure(llvm::ArrayRef<llvm::Constant *> fields);
  /// A pointer to the elements as an array; null if there are none.
  llvm::Constant *array(llvm::ArrayRef<llvm::Constant *> elements, llvm::StringRef name);
  /// An accc_tensor.
  llvm::Constant *tensor(llvm::StringRef name, mlir::RankedTensorType type);

private:
  llvm::Constant *global(llvm::Constant *initial, llvm::StringRef name, uint64_t alignment);

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::StringMap<llvm::Constant *> strings;
};

} // namespace accc::codegen

#endif
