// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `--loss-scale`: gradients that are too small for f16 are computed of a multiple of the loss.
#ifndef ACCC_TRAINING_OPTIMIZER_LOSSSCALE_H
#define ACCC_TRAINING_OPTIMIZER_LOSSSCALE_H

#include "ir/prim/Tensor.h"
#include "training/StepFunction.h"

#include "llvm/Support/Error.h"

namespace accc {

/// What the loss is multiplied by before the backward pass, and gradients are divided by behind it.
/// A step with a gradient that is not finite then changes no variable but the scale.
///
/// A dynamic scale moves as that of torch.amp.GradScaler, and is a variable that the optimizer
/// updates. A fixed one stays `initial`.
struct LossScale {
  bool isDynamic = true;
  double initial = 65536.0, growthFactor = 2.0, backoffFactor = 0.5;
  /// So many finite steps in a row make the scale grow.
  int64_t growthInterval = 2000;
};

/// Reads `dynamic[,init_scale=S,growth_factor=F,backoff_factor=F,growth_interval=N]` or `fixed=S`.
/// The error is one line, fit for a user.
llvm::Expected<LossScale> parseLossScale(llvm::StringRef text);

/// The loss scale in one entry point of a training step.
class LossScaler {
public:
  /// `name` is the training step's, empty for the only one. All ops are made at the end of `step`.
  LossScaler(const LossScale &options, StepFunction step, llvm::StringRef name);

  /// The scale for the backward pass of a loss of this type, of rank 0. Appends the argument
  /// `optimizer.[<name>.]loss_scale` of a dynamic one, whose zero stands for the initial scale:
  /// optimizer states start as zeros.
  mlir::Value addScale(mlir::RankedTensorType loss);

  /// A gradient, a value behind a barrier, divided by the scale. That of 16-bit floats becomes f32,
  /// which holds the quotient.
  mlir::Value unscale(mlir::Value gradient);

  /// Lets every update of the step, the model's own such as running statistics included, keep the
  /// old value where one of `gradients` is not finite, scaled or not. Appends the updates of a
  /// dynamic scale if `movesScale`. The scaled ones, as they lie, need no copy.
  void skipUnlessFinite(llvm::ArrayRef<mlir::Value> gradients, bool movesScale);

private:
  /// A dynamic scale for the optimizer.
  prim::Tensor readScale();
  /// The variable of this name, for the optimizer; a new state where the step has none.
  prim::Tensor readState(llvm::StringRef name, mlir::Type elementType);
  /// A variable as the optimizer reads it.
  prim::Tensor readVariable(mlir::Value variable);
  prim::Tensor started(prim::Tensor state) const;
  /// Whether all elements of all gradients are finite, i1 of rank 0.
  mlir::Value areFinite(llvm::ArrayRef<mlir::Value> gradients);
  void moveScale(prim::Tensor finite);

  const LossScale &options;
  StepFunction step;
  mlir::OpBuilder builder;
  std::string scaleName, trackerName;
  std::optional<prim::Tensor> inverse; // of a dynamic scale
};

} // namespace accc

#endif
