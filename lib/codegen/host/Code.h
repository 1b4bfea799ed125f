// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of an accc_code.
#ifndef ACCC_CODEGEN_HOST_CODE_H
#define ACCC_CODEGEN_HOST_CODE_H

#include "codegen/host/Host.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace accc::codegen {

/// The bytes of accc_code.tables, as they are added.
class TableBytes {
public:
  /// The buffer, aligned, that holds `words`.
  accc_buffer add(llvm::ArrayRef<int64_t> words);
  llvm::ArrayRef<char> get() const { return bytes; }

private:
  std::vector<char> bytes;
};

/// One accc_entry, whose library calls multiply f32 as `compute` says. `constants`: where in the
/// block of constants each is, by its symbol.
mlir::FailureOr<llvm::Constant *> describeEntry(exec::EntryOp entry, const KernelShapes &kernels,
                                                const llvm::StringMap<uint64_t> &constants,
                                                accc_compute compute,
                                                llvm::ArrayRef<llvm::Constant *> errors,
                                                TableBytes &tables, ConstantWriter &w);

} // namespace accc::codegen

#endif
