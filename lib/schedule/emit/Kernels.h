// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of a program: fusions with equal bodies are one kernel.
#ifndef ACCC_SCHEDULE_EMIT_KERNELS_H
#define ACCC_SCHEDULE_EMIT_KERNELS_H

#include "ir/exec/Exec.h"

#include "llvm/ADT/StringMap.h"

namespace accc {

class KernelTable {
public:
  explicit KernelTable(mlir::ModuleOp program) : program(program) {}

  /// The kernel that computes what `fusion` computes.
  exec::KernelOp get(prim::FusionOp fusion);
  /// The kernel that computes what one of another program computes.
  exec::KernelOp get(exec::KernelOp kernel);
  /// The kernel, of kind `each`, that computes what `fusion` computes in each of its segments.
  exec::KernelOp get(prim::FusionEachOp fusion);
  /// The kernel that copies a tensor of this type.
  exec::KernelOp getCopy(mlir::RankedTensorType type, mlir::Location loc);
  /// The kernel, of kind `each`, that copies a tensor of these elements in each of its segments.
  exec::KernelOp getCopyEach(mlir::Type elementType, mlir::Location loc);
  /// The read-only tensor with this value.
  exec::ConstantOp getConstant(mlir::ElementsAttr value, mlir::Location loc);

private:
  exec::KernelOp insert(mlir::Region &body, prim::KernelKind kind, prim::KernelSpecAttr spec,
                        llvm::StringRef label, mlir::Location loc);

  mlir::ModuleOp program;
  llvm::StringMap<exec::KernelOp> byBody;
  llvm::StringMap<unsigned> names;
  llvm::DenseMap<mlir::Attribute, exec::ConstantOp> constants;
};

} // namespace accc

#endif
