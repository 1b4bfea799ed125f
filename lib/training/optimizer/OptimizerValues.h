// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the optimizer's part of a step reads, and what its state is called.
#ifndef ACCC_TRAINING_OPTIMIZER_OPTIMIZERVALUES_H
#define ACCC_TRAINING_OPTIMIZER_OPTIMIZERVALUES_H

#include "ir/prim/Tensor.h"

namespace accc {

/// `optimizer.<state>`, or `optimizer.<step>.<state>` of a training step with a name: its own.
std::string stateName(llvm::StringRef step, llvm::StringRef state);

/// The type of what the optimizer keeps of a parameter in full: f32 for 16-bit floats, which would
/// lose small steps, else the parameter's own.
mlir::RankedTensorType wideType(mlir::Value parameter);

/// The type of single numbers that are meant for all of these tensors, such as a learning rate: f64
/// where one of them has its elements in f64, else f32.
mlir::Type scalarType(llvm::ArrayRef<mlir::Value> tensors);

/// Of what counts updates, i64 of rank 0.
mlir::RankedTensorType countType(mlir::MLIRContext *context);

/// The value as the optimizer computes with it: what is made of it is said to be the optimizer's.
prim::Tensor inOptimizer(mlir::OpBuilder &builder, mlir::Value value);

/// The value behind a barrier of its own (prim.optimization_barrier). What the model computes from
/// a parameter, the optimizer may compute as well: each for itself. Kernels know by the barrier
/// what belongs to the optimizer.
prim::Tensor behindBarrier(mlir::OpBuilder &builder, mlir::Value value);

/// What is `weight`, from 0 to 1, of the way between two values. Exact at both ends, as torch.lerp
/// is: a far value of which nothing is to be left takes no digits from a small one.
prim::Tensor lerp(prim::Tensor from, prim::Tensor to, double weight);
prim::Tensor lerp(prim::Tensor from, prim::Tensor to, prim::Tensor weight);

} // namespace accc

#endif
