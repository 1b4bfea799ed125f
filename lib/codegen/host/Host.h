// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host half of a library: constant data that tells a runtime what the model is and what each
// entry point runs. What is one machine's alone lies in one object with that machine's code; the
// description in an object of its own.
#ifndef ACCC_CODEGEN_HOST_HOST_H
#define ACCC_CODEGEN_HOST_HOST_H

#include "accc/abi.h"
#include "codegen/Generate.h"
#include "codegen/kernel/Kernel.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Module.h"

#include <vector>

namespace accc::codegen {

/// For which machine a code is (fields of accc_code), and how it multiplies f32.
struct CodeLabel {
  std::string target, arch;
  accc_compute compute = ACCC_COMPUTE_FULL;
};

/// Constants of programs one after the other, each aligned and equal ones once
/// (accc_model_description.constants).
class ConstantBlock {
public:
  void add(mlir::ModuleOp program);
  /// Of a constant of a program that was added, in bytes.
  uint64_t offsetOf(exec::ConstantOp constant) const;
  std::vector<char> getBytes() const;

private:
  llvm::MapVector<mlir::Attribute, uint64_t> offsets;
  uint64_t end = 0;
};

/// Adds the accc_code of `program` for one kind of machine to `module`, which the library's other
/// objects know as `symbol`. Kernels are functions of these objects (objectSymbol) or, where there
/// is one, symbols of `image` (deviceSymbol).
mlir::LogicalResult addCode(mlir::ModuleOp program, const ConstantBlock &constants,
                            const KernelShapes &kernels, const ErrorTable &errors,
                            const CodeLabel &label, llvm::ArrayRef<char> image,
                            llvm::StringRef symbol, llvm::Module &module);

/// Adds the description to `module`, with its accessor (ACCC_MODEL_SYMBOL) and the constants that
/// entry points read. `codes` are symbols that addCode gave, the best machine first; `program` is
/// that of any of them.
void addDescription(mlir::ModuleOp program, const WeightTable &weights,
                    const ConstantBlock &constants, const GenerateOptions &options,
                    llvm::ArrayRef<std::string> codes, llvm::Module &module);

/// What the runtime needs to know of a library call, which does as `compute` says if its operands
/// are f32. Fails with a diagnostic on what no library call does.
mlir::FailureOr<accc_library_call> describeCall(exec::LibraryCallOp call,
                                                accc_compute compute = ACCC_COMPUTE_FULL);

/// A buffer for each result of the call, in the order of accc_call_kind: several results may lie in
/// one.
llvm::SmallVector<mlir::Value> outputsOf(exec::LibraryCallOp call);

class ConstantWriter;

/// The accc_custom_call of a call, whose buffers are its inputs and then its outputs.
llvm::Constant *describeCustomCall(exec::CustomCallOp call, ConstantWriter &w);

/// Constant data of the description, by C layout on x86-64.
class ConstantWriter {
public:
  explicit ConstantWriter(llvm::Module &module) : module(module), context(module.getContext()) {}

  llvm::Constant *i32(int64_t value);
  llvm::Constant *i64(int64_t value);
  llvm::Constant *null();
  llvm::Constant *string(llvm::StringRef text);
  /// A pointer to the bytes, of which there may be none.
  llvm::Constant *bytes(llvm::ArrayRef<char> data, llvm::StringRef name);
  template <typename Struct>
  llvm::Constant *structs(llvm::ArrayRef<Struct> data, llvm::StringRef name) {
    return bytes({reinterpret_cast<const char *>(data.data()), data.size() * sizeof(Struct)}, name);
  }
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
