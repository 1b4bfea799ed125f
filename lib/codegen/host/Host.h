// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host half of a library: one function an entry point, and the description that a runtime
// reads. The entry points lie in one object a CPU, beside the kernels; the description in an object
// of its own.
#ifndef ACCC_CODEGEN_HOST_HOST_H
#define ACCC_CODEGEN_HOST_HOST_H

#include "accc/abi.h"
#include "codegen/Generate.h"
#include "codegen/kernel/Kernel.h"

#include "llvm/IR/Module.h"

namespace accc::codegen {

/// Kernel symbol -> number of tasks.
using KernelTasks = llvm::StringMap<int64_t>;

/// Adds the entry points of `program` to `module`, which holds the kernels for one CPU already, and
/// a table of them (accc_entry[]) that the library's other objects know as `symbol`.
mlir::LogicalResult addEntries(mlir::ModuleOp program, const KernelTasks &tasks,
                               const ErrorTable &errors, llvm::StringRef symbol,
                               llvm::Module &module);

/// One accc_code.
struct Code {
  std::string arch;
  std::string entries; // the symbol of its table
};

/// Adds the description to `module`, with its accessor (ACCC_MODEL_SYMBOL) and the constants that
/// the entry points of all codes read.
void addDescription(mlir::ModuleOp program, const WeightTable &weights,
                    const GenerateOptions &options, llvm::ArrayRef<Code> codes,
                    llvm::Module &module);

/// What the library's objects call a constant.
std::string constantSymbol(exec::ConstantOp constant);

/// What the runtime needs to know of a library call. Fails with a diagnostic on what no library
/// call does.
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
  /// Makes data that this writer gave known to the library's other objects.
  void share(llvm::Constant *data, llvm::StringRef symbol);
  /// Data that another object of the library shares.
  llvm::Constant *declare(llvm::StringRef symbol);
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
