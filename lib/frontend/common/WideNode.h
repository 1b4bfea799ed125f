// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes of models in 16-bit floats: computed in f32, their results rounded once.
#ifndef ACCC_FRONTEND_COMMON_WIDENODE_H
#define ACCC_FRONTEND_COMMON_WIDENODE_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace accc::frontend {

/// What a rule built for one node, built again: what computes in 16-bit floats does so in f32, and
/// a value that leaves the node is rounded to the type it had, once. This is what PyTorch's kernels
/// do, whose numbers of Python are not rounded either, and ONNX leaves open. Ops that move
/// elements, and those with the trait RoundsItself, stay in 16 bits.
class WideNode {
public:
  /// Builds after the ops, which stay for what nobody replaces.
  WideNode(llvm::ArrayRef<mlir::Operation *> ops, mlir::OpBuilder &builder);

  bool hasChanged() const { return !rebuilt.empty(); }
  /// What a value of the node is now, of the same type.
  mlir::Value narrowed(mlir::Value value);

private:
  void rebuild(mlir::Operation &op);
  /// As f32, where it is a 16-bit float.
  mlir::Value widened(mlir::Value value);

  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, mlir::Value> rebuilt, wide, narrow;
};

} // namespace accc::frontend

#endif
