// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What losses over class indices share: the class dimension, weights, and the type of their target.
#ifndef ACCC_TRAINING_LOSS_CLASSLOSSES_H
#define ACCC_TRAINING_LOSS_CLASSLOSSES_H

#include "training/loss/Loss.h"

namespace accc {

/// The options `ignore_index`, `weight` and `class_dim` of a loss on [N, C, d...] (or [C]) with
/// targets [N, d...]. `class_dim` says where C stands; by default as in PyTorch: 1, or 0 for
/// rank 1.
class ClassLoss : public Loss {
public:
  explicit ClassLoss(Spec &spec);

  mlir::FailureOr<mlir::RankedTensorType> targetType(mlir::RankedTensorType output,
                                                     mlir::Location loc) const override;

protected:
  /// Whether the options say where C stands.
  bool namesClassDimension() const { return classDim.has_value(); }
  /// A tensor of the output's shape with its class dimension where `nn` expects it.
  prim::Tensor classesSecond(prim::Tensor tensor) const;
  /// The class weights as a constant of the output's element type; null where there are none.
  mlir::Value weightConstant(prim::Tensor output) const;
  /// Null attribute where nothing is ignored.
  mlir::IntegerAttr ignoreIndexAttr(mlir::OpBuilder &builder) const;

private:
  /// Where C stands in an output of this rank; -1 if nowhere.
  int64_t classDimension(int64_t rank) const;

  int64_t ignoreIndex;
  std::optional<int64_t> classDim;
  std::vector<double> weight;
};

} // namespace accc

#endif
